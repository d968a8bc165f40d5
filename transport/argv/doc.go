// Package argv is the cli: a program that is run once for each call.
//
// # Answering
//
// [Run] answers the call that stands on the command line and returns the exit status. It is the last thing a main does:
//
//	os.Exit(argv.Run(context.Background(), handler, argv.Options{}))
//
// A command line is VERB [WORD…]. A word is text, unless its parameter is declared as something else: then it is JSON. --args
// gives the whole list of arguments in one JSON value, --args - reads it from stdin in either encoding; --json and --cbor say in
// what the reply is written; -- ends the flags. What is wrong with all that is refused like any other call, in the shape of a
// reply, so that whoever runs the program reads one kind of answer (ARGV-3).
//
// The exit status is 0 whenever a reply was written, 1 when it could not be, 2 when there was no call at all. --help is text, and
// lists what the handler's own verbs call says it answers here.
//
// While it runs descriptor 1 is stderr: a stray print, of a child too, cannot get into the reply (ARGV-5).
//
// # Calling
//
// [Program] is the other side: a [transport.Caller] that runs a program for each call.
//
//	scribe := argv.Program{Path: "scribe"}
//	notes, err := transport.Call[Note](ctx, scribe, "list", 10)
//
// Each call costs a process. Package pipe holds one instead, and then the two may call each other.
package argv
