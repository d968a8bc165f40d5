// Package conformance checks that a program keeps to the wire, whatever language it is written in, and tells of each fault
// the rule, what was sent, what came, what is allowed, and a line of shell that shows it.
//
// # From the shell
//
//	kith check ./prog           every door that the program's verbs lists
//	kith check argv:./prog      the command line alone
//	kith check pipe:./prog      `./prog pipe` alone
//	kith check unix:/run/p.sock a socket that somebody serves
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
// # From a Go test
//
// A program that has been built is a target by its path, and a listener of the test's own is one by its socket:
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
// hundred other names. The tests have every one of them caught by the checks meant for it and by no other.
//
// The package speaks raw bytes and imports no other package of the module but its own readers: a fault in the framework
// cannot hide itself here.
package conformance
