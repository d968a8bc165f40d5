package main

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// What is wrong with replies, listings and readers stands here, out of the way of those who read how it is done right.

// limits are those of the wire, where nothing is wrong.
func limits() value.Limits {
	l := value.Default
	switch fault {
	case "depth-65":
		l.Depth++
	case "depth-63":
		l.Depth--
	case "items-more":
		l.Items += 1000
	case "integers-short":
		l.IntBits = 1000
	}
	return l
}

// spoil writes the members of a reply.
func spoil(r reply, members []value.Member, enc value.Encoding) []byte {
	switch fault {
	case "family-missing":
		members = without(members, "family")
	case "family-2":
		set(members, "family", value.OfInt(2))
	case "family-text":
		set(members, "family", value.OfText("1"))
	case "surface-missing":
		members = without(members, "surface")
	case "surface-everywhere":
		members = append(without(members, "surface"), value.Member{})
		copy(members[3:], members[2:])
		members[2] = value.M("surface", value.OfInt(1))
	case "n-off-by-one":
		set(members, "n", value.OfInt(max(0, len(r.rows)-1)))
	case "no-n":
		members = without(members, "n")
	case "nested-listing":
		if r.surface {
			set(members, "n", value.OfInt(1))
			set(members, "result", value.OfList(value.OfList(r.rows...)))
		}
	case "bare-result":
		if r.fault == "" && !r.surface {
			set(members, "result", r.rows[0])
		}
	case "error-null":
		if r.fault == "" {
			members = append(members, value.M("error", value.Value{}))
		}
	case "fault-first":
		if r.fault != "" {
			members[len(members)-1], members[len(members)-2] = members[len(members)-2], members[len(members)-1]
		}
	case "sorted-cbor-keys":
		if enc == value.CBOR {
			slices.SortFunc(members, func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
		}
	case "refusal-with-rows":
		if r.fault != "" {
			set(members, "n", value.OfInt(1))
			set(members, "result", value.OfList(value.OfText("a row")))
		}
	case "duplicate-member":
		if r.fault == "" && !r.surface {
			members = append(members, value.M("n", value.OfInt(1)))
		}
	case "cbor-says-less":
		if result, _ := value.OfMap(members...).Get("result"); enc == value.CBOR && r.surface {
			set(members, "result", value.OfList(append(result.List[1:], result.List[0])...))
		}
	case "json-to-cbor":
		enc = value.JSON
	case "verbs-not-in-cbor":
		if enc == value.CBOR && r.surface {
			return reply{fault: "failed", err: "verbs is for JSON"}.encode(enc)
		}
	}
	return spoilBytes(value.Append(nil, enc, value.OfMap(members...)), enc)
}

func spoilBytes(b []byte, enc value.Encoding) []byte {
	switch {
	case wrong("spaces") && enc == value.JSON:
		return bytes.Replace(b, []byte(`,"family":`), []byte(`, "family": `), 1)
	case wrong("long-heads") && enc == value.CBOR:
		return bytes.Replace(b, []byte("\x66family\x01"), []byte("\x66family\x18\x01"), 1)
	}
	return b
}

func without(members []value.Member, name string) []value.Member {
	return slices.DeleteFunc(members, func(m value.Member) bool { return m.Name == name })
}

func set(members []value.Member, name string, v value.Value) {
	for i := range members {
		if members[i].Name == name {
			members[i].Value = v
		}
	}
}

func spoilListing(rows []row) []row {
	switch fault {
	case "rows-out-of-order":
		slices.Reverse(rows)
	case "row-twice":
		rows = append(rows, rows[len(rows)-1])
	case "type-unknown":
		rows[0].args = []string{"name:string"}
	case "required-behind-optional":
		rows[0].args = []string{"times:int?", "name:text"}
	case "name-with-capital":
		rows = append(rows, row{"Shout", "a greeting, louder", "socket", nil})
	case "client-unlisted":
		rows = slices.DeleteFunc(rows, func(r row) bool { return r.verb == "client" })
	case "serve-unlisted":
		rows = slices.DeleteFunc(rows, func(r row) bool { return r.verb == "serve" })
	case "shell-on-socket":
		rows = append(rows, row{"exec", "run a command", "socket", nil})
	}
	return rows
}

// get reads a member as the name says.
func get(v value.Value, name string) (value.Value, bool) {
	for _, m := range v.Map {
		if m.Name == name || wrong("folds-case") && strings.EqualFold(m.Name, name) {
			return m.Value, true
		}
	}
	return value.Value{}, false
}

// forgiveness is what a reader that is not strict takes all the same: the error it has for it.
var forgiveness = map[string]string{
	"duplicates-taken": "has already", "bad-utf8-taken": "not UTF-8", "surrogates-taken": "lone surrogate", "numbers-rounded": "binary64",
	"trailing-taken": "after the end", "bytes-taken": "a byte string", "commas-taken": "name of a member should be",
}

// forgiven reports whether a message that cannot be read is taken for the call of verbs that it nearly is.
func forgiven(err error, doc value.Doc) bool {
	why, lenient := forgiveness[fault]
	if wrong("dies-of-depth") && strings.Contains(err.Error(), "open maps") {
		os.Exit(2)
	}
	return lenient && strings.Contains(err.Error(), why) && doc.First == "call"
}

// spurned reports whether a message that is right is not taken.
func spurned(b []byte, doc value.Doc) bool {
	_, token := doc.Value.Get("token")
	switch fault {
	case "unknown-members-refused":
		return token
	case "space-refused":
		return len(b) > 0 && b[0] == ' '
	case "indefinite-refused":
		return len(doc.Loose) > 0 && strings.Contains(doc.Loose[0], "indefinite")
	}
	return false
}

// sender writes replies at once and in order, where nothing is wrong.
type sender struct {
	door
	calls int
	held  [][]byte
}

func (s *sender) send(body []byte, verb string) error {
	s.calls++
	switch {
	case wrong("answers-late"):
		if s.held = append(s.held, body); len(s.held) < 2 {
			return nil
		}
		body, s.held = s.held[0], s.held[1:]
	case wrong("drops-the-last"):
		if held, ended := s.in.soon(); ended && !held {
			return nil
		}
	case wrong("out-of-order") && verb == "client" && len(s.held) == 0:
		if held, _ := s.in.soon(); held {
			s.held = append(s.held, body)
			return nil
		}
	case wrong("duplicate-reply") && s.calls == 5:
		s.write(slices.Clone(body))
	}
	err := s.write(body)
	if wrong("out-of-order") {
		s.flush()
	}
	return err
}

func (s *sender) flush() (err error) {
	for _, b := range s.held {
		err = errors.Join(err, s.write(b))
	}
	s.held = nil
	return err
}

// ended is the end of the input.
func (s *sender) ended() error {
	if wrong("says-goodbye") && s.calls == 0 {
		s.write(malformed("nothing came").encode(value.JSON))
	}
	for wrong("never-ends") {
		time.Sleep(time.Hour)
	}
	return s.flush()
}

// closes reports whether no more is served behind a reply.
func (s *sender) closes(body []byte) bool {
	return wrong("closes-after-refusal") && bytes.Contains(body, []byte("no such call")) ||
		wrong("closes-after-bad") && bytes.Contains(body, []byte("cannot be read"))
}

// denied reports whether a verb that is listed is not answered.
func denied(door, verb string) bool {
	switch fault {
	case "listed-unanswered":
		return door != "cli" && verb == "greet"
	case "client-unknown":
		return verb == "client"
	case "verbs-not-on-a-pipe":
		return door == "pipe" && verb == "verbs"
	}
	return false
}
