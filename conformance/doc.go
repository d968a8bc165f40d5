// Package conformance checks that a program keeps to the wire, whatever language it is written in, and tells of each fault
// the rule, what was sent, what came, what is allowed, and a line of shell that shows it.
//
// # From the shell
//
//	kith check ./prog           every door that the program's verbs lists
//	kith check argv:./prog      the command line alone
//	kith check pipe:./prog      `./prog pipe` alone
//	kith check unix:/run/p.sock a socket that somebody serves
//	kith check daemon:/run/d.s  a socket on the daemon wire that somebody serves
//	kith check --list           what is checked, by which rule
//
// It exits 0 only when something was checked, nothing failed, and nothing that should have been checked could not be. A
// program that is on its way lists what it does not do yet in a file, one check a line, and passes it with --known: those
// checks may fail, and must be taken off the list when they pass. Such a list is also how an author says that a fault is
// meant: a verb named exec on the socket, say.
//
// # What it does to the program
//
// It needs nothing but the floor, verbs. It calls verbs, client and verbs that no program has, and it calls a verb of the
// program only where verbs declares typed arguments for it, and then with values of other types. It never calls a verb that
// declares nothing. Everything else it sends is no call: bad messages, unfinished ones, events with names of its own, too
// many bytes. It starts the program on argv and on the pipe, starts `serve --socket PATH` where verbs lists it, and ends
// that by SIGTERM, SIGINT and kill -9. What it starts has $XDG_STATE_HOME and $XDG_RUNTIME_DIR in a temporary directory. A
// socket that it did not start is neither ended nor measured: those checks are skipped.
//
// # What it does to a daemon
//
// Of a daemon it knows the protocol and nothing else: it asks for methods of a namespace that nobody has, which
// are answered with unknown_method, and sends what is no request, which has one malformed_frame with id 0 and the end of the
// connection. It neither starts nor ends it, opens some 200 connections at the same time, and measures its memory where the
// system tells whose the socket is and that is our own user. Where the protocol does not say it takes anything: other members of
// an error, their order, a key that stands twice.
//
// A right answer to a method that nobody has says little of the rest, so this it does not see: requests of one connection that
// are answered out of order, or refused for an id that is in flight (RPC-3), which needs a method that takes its time; results;
// the other codes; the time limits of idle connections and started frames; the connection limit; upgrades (RPC-7).
//
// # From a Go test
//
// A program that has been built is a target by its path, and a listener of the test's own is one by its socket, unix:PATH or
// daemon:PATH:
//
//	func TestWire(t *testing.T) { conformance.Test(t, "unix:"+path, conformance.Options{}) }
//
// A Handler needs no program of its own. The test binary becomes it when the checker starts it:
//
//	func TestMain(m *testing.M) {
//		conformance.Main(func() { doors.Main(program()) })
//		os.Exit(m.Run())
//	}
//
//	func TestWire(t *testing.T) { conformance.Test(t, conformance.Self, conformance.Options{}) }
//
// # What it does not see
//
// Nothing of the program's own verbs, and nothing that takes longer than anybody waits: the 30 s of a started frame (SOCK-5)
// among it. Nothing that needs a second user (SOCK-4). Nothing of how the program calls others (WIRE §10).
//
// # How it is itself checked
//
// The program in internal/broken is right, small and readable, and wrong in exactly one way under each of more than a
// hundred other names. The tests have every one of them caught by the checks meant for it and by no other. So it is with the
// daemon in internal/brokend.
//
// The package speaks raw bytes and imports no other package of the module but its own readers: a fault in the framework
// cannot hide itself here.
package conformance
