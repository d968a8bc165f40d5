// Package version holds the revision of the wire this program speaks and the one rule that compares revisions (WIRE VER-1,
// VER-2). Two numbers are compared by it: family, the wire between programs, and surface, what a third party's extension
// of one program is written against.
package version

import "fmt"

// Family is the revision of the wire this module reads and writes.
const Family = 1

// TooNew says that a peer speaks a later revision than this program reads.
type TooNew struct {
	Peer string // who speaks it, as the caller knows it
	Kind string // "family" or "surface"
	Got  uint64 // what the peer speaks
	Upto uint64 // the latest revision read here
}

func (e *TooNew) Error() string {
	return fmt.Sprintf("%s speaks %s %d and this program reads up to %d", e.Peer, e.Kind, e.Got, e.Upto)
}

// Gate returns a [*TooNew] when got is newer than upto. Older is accepted, and so is missing, which reads as 0.
func Gate(peer, kind string, got, upto uint64) error {
	if got > upto {
		return &TooNew{Peer: peer, Kind: kind, Got: got, Upto: upto}
	}
	return nil
}
