//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command scribe is a durable notebook, and the example of a program on this wire: one file of notes that any number of
// one-shot runs, pipes and daemons share.
//
//	scribe note TEXT [TAG…]   keep a note
//	scribe list [LIMIT]       the newest notes, oldest first
//	scribe find WORD          notes with a part of text or tag, case ignored
//	scribe get ID             one note
//	scribe forget ID          forget it, and return it a last time
//	scribe echo [VALUE…]      the arguments back, a row each
//	scribe serve, scribe pipe the same on a socket, on stdin and stdout; watch is there too
//
// The notes are in $SCRIBE_BOOK, by default $XDG_STATE_HOME/scribe/book.jsonl, one JSON object a line.
//
// The two lines above the package are for its start: without them every run looks up the CPU limit of its container first.
package main

import "github.com/kith-wire/kith/transport/doors"

func main() {
	doors.Main(program(newBook(bookPath())))
}
