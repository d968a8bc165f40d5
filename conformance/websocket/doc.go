// Package websocket holds a test alone, in a module of its own so that no user of kith gets its dependency: a method of the daemon wire
// hands its connection over to a real WebSocket (RPC-7), of github.com/coder/websocket at both ends.
package websocket
