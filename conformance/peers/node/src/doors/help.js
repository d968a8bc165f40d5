export const HELP = `A small program on the wire of family 1. It answers calls at a command line, on a pipe and on a socket.

usage: peer VERB [WORD…] [--args JSON|-] [--json|--cbor]

  echo [VALUE…]                 the arguments back, a row each
  ask TARGET VERB [VALUE…]      call another program's verb and give its rows;
                                TARGET is argv:PROG, pipe:PROG or unix:PATH
  verbs                         what is answered, a row for each verb and door
  client                        a client library as source; there is none
  serve                         answer on a socket until SIGTERM or SIGINT
  pipe                          answer on stdin and stdout until stdin ends

A VALUE is JSON, so a text wants its quotes. --args gives all arguments as one list, and - reads it from stdin, in JSON or in
CBOR. Behind -- there are no flags.

flags of serve:
  --socket PATH      where; default $XDG_RUNTIME_DIR/peer/INSTANCE.sock
  --instance NAME    which of several; default main
  --limit N          connections at a time; default 1024
  --stall DURATION   for a frame that has begun, and for a caller that takes nothing; default 30s
  --grace DURATION   for stopping; default 5s
flags of serve and pipe:
  --cap BYTES        the largest message; default 1 MiB on a socket and 16 MiB on a pipe
  --depth N          maps and lists open at once in a message; default 64
  --items N          members and elements of a message; default 262144
  --intbits N        bits of an integer; default 1024
  --tied PID         stop when that process ends

exit: 0 a reply was written, a refusal too; 1 it could not be written, or nothing could be served; 2 there was no call
`;
