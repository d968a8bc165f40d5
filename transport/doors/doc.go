// Package doors makes a whole program of one Handler: Main is its main, and the program is reached at the cli, on a pipe and on a
// socket.
//
//	func main() {
//		set := verbs.New("scribe", 1)
//		verbs.Add(set, "note", "keep one line", note)
//		doors.Main(set)
//	}
//
// The program is then
//
//	scribe VERB [WORD…]   one call from the command line (package argv)
//	scribe pipe           lines on stdin and stdout, for the parent that started it (package pipe)
//	scribe serve          a socket, for anybody of the same user (package socket)
//	scribe serve --wire daemon    the same, for clients of the daemon wire (package rpc); see Daemon
//
// pipe and serve are words of the command line and no calls: they are taken before the Handler is asked, and only where its own
// `verbs` has them, so that what is listed is what is there (FAULT-5, VERBS-2). Their flags are in their --help.
//
// # Ends
//
// SIGTERM and SIGINT end pipe and serve in order: what has arrived is answered, within 5 s, and the exit status is 0; a second
// signal changes nothing. --tied PID does the same when that process ends (PIPE-5). A call from the command line is ended by a
// signal like any program.
//
// A socket that a service manager has passed is served in place of one of our own (socket.Activated).
package doors
