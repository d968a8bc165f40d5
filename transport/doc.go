// Package transport holds what every door of a program shares: the [Handler] that answers, the [Caller] that asks, and the one
// symmetric connection between two programs, a [Peer] at each end.
//
// A program writes a [Handler] once; packages argv, pipe and socket serve it, package doors serves it on all three. Whoever
// calls gets a [Caller] whose Call has the Handler's signature, so that a proxy is HandlerFunc(peer.Call), middleware is a
// Handler that holds another, and a pair of Handlers is a test ([Pair]). On top of any Caller, [Call] makes rows of a type, and
// [Lend] reads them where they stand.
//
// # The connection
//
// Pipe and socket carry the same three messages both ways: calls, replies and events. Replies pair with calls by position, so
// there are no ids, and a connection serves one message after another in the order they came (SOCK-5); connections run at the
// same time. Either end may call at any time, and a handler may call its caller back, once deep (CLIENT-6).
//
// No goroutine is kept for reading. Whoever waits reads: a caller reads until its own reply is there and hands out what it finds
// on the way, the serve loop reads when nobody else does. Nobody waits in a write: one try, and what does not fit is written by a
// goroutine that lives as long as there is something left. So a lone call costs two system calls and no goroutine switch.
// A connection that has served nothing for a quarter of a second rests: it keeps no buffer, no timer and the smallest stack there is.
//
// # Bounds
//
//   - 256 calls and 1 MiB of calls (or one larger) are outstanding each way; more callers wait their turn.
//   - 1,024 messages or one frame cap of bytes are read ahead of the handler; then reading stops, and the kernel holds the peer back.
//   - Beyond 1 MiB of replies that the peer has not taken no further call is served.
//   - An event never waits: a peer that is 1,024 events or one frame cap behind is closed.
//   - A started frame and a write that moves no byte end within 30 s, a call within 30 s, unless [Config] says otherwise.
//
// Two ends that both write before they read therefore make progress or are told no; neither hangs.
//
// # When it ends
//
// End of input is not the end of a connection: what was read is answered first. The first failure is everyone's reason: calls
// that wait fail with it, calls that come later say so, and nothing is retried (CLIENT-1, CLIENT-2). On Linux a handler's context
// ends within half a second of its peer's death; elsewhere that depends on what poll reports of a socket.
package transport
