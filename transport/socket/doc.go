// Package socket is the door that others knock on: a Unix stream socket, served to many callers at once, and the way to dial one.
//
// # Serving
//
// A program finds its place with [Path], takes it with [Listen] and answers with [Listener.Serve] until its context ends:
//
//	path, err := socket.Path("scribe", "")
//	l, err := socket.Listen(path, socket.Options{
//		Config:  transport.Config{Handler: handler},
//		MakeDir: true,
//	})
//	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
//	defer stop()
//	err = l.Serve(ctx)
//
// Once Listen has returned, callers can connect: that is the moment to say so. A program that a service manager may start asks
// [Activated] first.
//
// The path is ours alone. Its directory may not be changed by anybody else, the socket is 0600 from its first instant, and a lock
// beside it, path.lock, is held as long as the listener is open. So one of many that start at once serves, a file left by a crash
// is replaced, and a server that is merely stopped, or slow, keeps its name. The lock file stays for ever: never remove it.
//
// # Who is calling
//
// The kernel says who connects, before a byte is read. A caller of another user is closed without a word unless
// [Options].Allow says otherwise. Handlers ask the [transport.Peer] in their context for Cred, and on Linux 6.5 and later for
// PIDFD, which goes on meaning that process when its number is used again. On FreeBSD the process is not known, and the PID is 0.
//
// # Calling
//
// [Dial] makes a [transport.Peer], which calls, and is called if its Config has a Handler:
//
//	peer, err := socket.Dial(ctx, path, transport.Config{})
//	notes, err := transport.Call[Note](ctx, peer, "list")
//
// It does not judge who listens; the peer's Cred tells.
//
// # Bounds
//
//   - A path is at most 107 bytes on Linux and 103 on the BSDs.
//   - 1,024 connections are served at a time; the next is told so and closed ([Options].Max).
//   - A message is at most 1 MiB, a started one ends within 30 s ([transport.Config]: Limits, Stall).
//   - A dial takes 2 s unless its context says otherwise, a stop 5 s ([Options].Grace).
package socket
