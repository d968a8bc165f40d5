// Package pipe is the door to a program that is held by the one which started it: JSON lines on stdin and stdout, both ways, for as
// long as both live.
//
// # The child
//
// [Serve] answers on stdin and stdout until input ends, or its context does:
//
//	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
//	defer stop()
//	if err := pipe.Serve(ctx, transport.Config{Handler: handler}); err != nil {
//		fmt.Fprintln(os.Stderr, err)
//		os.Exit(1)
//	}
//
// A handler finds the parent in its context and may call it or send it events ([transport.PeerFrom]). Descriptor 1 is stderr from
// the start, so that a stray print cannot break a line (ARGV-5).
//
// # The parent
//
// [Start] runs a program and returns the [Child], a [transport.Peer]: it is called, and where the [Command] has a Handler it calls
// and sends events too.
//
//	child, err := pipe.Start(ctx, pipe.Command{Path: "scribe"})
//	defer child.Close()
//	notes, err := transport.Call[Note](ctx, child, "list")
//
// Without a Handler what the child sends is read while a call waits, so that one which sends events needs one.
//
// # Ends
//
// A child that dies fails every waiting call at once with its exit status and the end of its stderr. A parent that dies ends the
// child: its stdin ends, and with a [Serve] at the other end that is all it takes; what was read is answered first, if only into
// the void. [Child.Close] asks that way too, and insists: SIGTERM and then SIGKILL to the whole process group of the child, so that
// nobody is left behind where the child was a wrapper. A connection that ends in any other way does the same by itself.
package pipe
