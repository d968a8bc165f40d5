// Package rpc is the daemon wire: requests with ids over a Unix socket, answered in any order, by the same Handler that answers at the
// other doors. It serves clients that exist, and calls daemons that exist.
//
//	l, err := socket.Listen(path, socket.Options{Wire: rpc.Options{
//		Namespaces: map[string]transport.Handler{"agent": agents, "channel": channels},
//	}})
//
// Path, lock, credentials, connection limit and shutdown are those of package socket.
//
// # Messages
//
// A frame is four bytes of little-endian length and that many of JSON, at most 16 MiB (RPC-1):
//
//	{"id":7,"method":"agent.list","params":{"limit":3}}
//	{"id":7,"result":[…]}   or   {"id":7,"error":{"code":"agent_not_found","message":"…"}}
//
// An id is any integer of 64 bits without a sign. The params are the verb's arguments by their names; a verb that declares none by
// name gets the map as its one argument. No rows are null, one row stands for itself, more are a list, and so are all rows of a verb
// that is declared with verbs.Listing (RPC-6). There are no events and no calls back: Peer.WayBack is false.
//
// # Order
//
// Requests of one connection are answered at the same time, up to Options.InFlight, and in any order: a Handler that relies on one
// call at a time per connection relies on the family wire. A second request with an id that is being answered is told busy, and the
// first is unharmed (RPC-3). A peer that does not read its responses is not read from either, once 1 MiB of them waits.
//
// # Ends
//
// What is no request is told malformed_frame with id 0, what is in flight is answered, and the connection closes; so it does for a
// frame over the cap. A connection that has sent no whole request within Options.Idle is dropped, and a frame that has begun must end
// within Stall. The end of input is silent: what is in flight is answered. While the program stops, requests that come are told
// shutting_down (RPC-4).
//
// # Codes and faults
//
// An error that a Handler returns goes out with its own code ([Code.Errorf], shape.Error.Code), else with that of its fault; a caller
// finds both in the *shape.Error.
//
//	fault         goes out as       comes in from
//	refused       invalid_params    unknown_method invalid_params agent_not_found agent_exists invalid_status channel_unknown,
//	                                and any code that is not known, which is kept
//	unavailable   busy              busy lock_timeout shutting_down
//	failed        internal          internal spawn_failed
//	malformed     internal          malformed_frame
//
// An unknown verb or namespace is unknown_method, wrong arguments are invalid_params, a panic is internal. malformed_frame is said to
// bytes that are no request, and never of a request that could be read (FAULT-1).
package rpc
