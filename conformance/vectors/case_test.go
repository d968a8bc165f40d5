package vectors_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// file is one data file. Fields are those of schema.json, whose descriptions are not repeated here.
type file struct {
	Schema string     `json:"$schema"`
	Area   string     `json:"area"`
	About  string     `json:"about"`
	Cases  []testCase `json:"cases"`
}

type testCase struct {
	Name, Kind string
	Rules      []string
	About      string
	Limits     limits

	Input    data      // message, refused-value
	Allow    []outcome // message
	Encoding string    // refused-value
	Ours     ours      // refused-value

	JSON, CBOR []data  // value
	Write      written // value

	Reply *struct {
		Rows    []string
		Surface uint64
	} // write: one of these
	Refusal    *struct{ Fault, Text string }
	Event      *struct{ Name, More string }
	Call       *struct{ Verb, Args, More string }
	Unwritable string
	Expect     written

	Door    string // connection
	Handler string
	Listen  bool
	Stall   int      // ms
	Timeout int      // ms
	Steps   []step   // connection, program
	Needs   []string // root, linux
	Child   string   // parent: a script of sh
	Policy  string

	Answers  []string // request: patterns, one of which is the response
	Closes   bool     // request, response: the connection is closed behind it
	Side     string   // daemon-connection: which the peer under test is
	Idle     int      // ms
	InFlight int
	Max      int
	Grace    int // ms

	Describe []string // described
	sections []section
}

type limits struct{ Frame, Depth, Items, IntBits int }

type written struct{ JSON, CBOR string }

// ours is what kith promises beyond the wire.
type ours struct {
	Offset *int
	Says   []string
}

type outcome struct {
	Is               string
	Verb, Args, More string // call
	Name             string // event
	Rows             string // rows
	Surface          *uint64
	Held             int
	Fault, Sent      string // refusal
	Code             string // refusal of a daemon
	Frame            string // how a frame of a daemon failed
	Text             string
	Says, Lacks      []string // malformed and what is like it
}

// data is bytes as the files write them: text, or an object that says how they are made, or a list of both.
type data []byte

func (d *data) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		var s string
		err := json.Unmarshal(b, &s)
		*d = data(s)
		return err
	case '[':
		var parts []data
		if err := strict(b, &parts); err != nil {
			return err
		}
		*d = bytes.Join(asBytes(parts), nil)
		if *d == nil {
			*d = data{}
		}
		return nil
	}
	var p piece
	if err := strict(b, &p); err != nil {
		return err
	}
	made, err := p.make()
	*d = made
	return err
}

func asBytes(parts []data) (all [][]byte) {
	for _, p := range parts {
		all = append(all, p)
	}
	return all
}

// piece is one way to make bytes.
type piece struct {
	Text, Hex *string
	Times     *int
	Count     *string // '#' is the number
	From, To  int
	Frame     data
	LFrame    data
	Line      data
	Head      *uint32
	LHead     *uint32
}

func (p piece) make() (data, error) {
	var one []byte
	switch {
	case p.Text != nil:
		one = []byte(*p.Text)
	case p.Hex != nil:
		var err error
		if one, err = hex.DecodeString(*p.Hex); err != nil {
			return nil, err
		}
	case p.Count != nil:
		for i := p.From; i <= p.To; i++ {
			one = append(one, strings.ReplaceAll(*p.Count, "#", strconv.Itoa(i))...)
		}
	case p.Frame != nil:
		one = append(binary.BigEndian.AppendUint32(nil, uint32(len(p.Frame))), p.Frame...)
	case p.LFrame != nil:
		one = append(binary.LittleEndian.AppendUint32(nil, uint32(len(p.LFrame))), p.LFrame...)
	case p.Line != nil:
		one = append(append(one, p.Line...), '\n')
	case p.Head != nil:
		one = binary.BigEndian.AppendUint32(nil, *p.Head)
	case p.LHead != nil:
		one = binary.LittleEndian.AppendUint32(nil, *p.LHead)
	default:
		return nil, fmt.Errorf("a piece makes nothing")
	}
	if p.Times != nil {
		one = bytes.Repeat(one, *p.Times)
	}
	if one == nil {
		one = []byte{}
	}
	return one, nil
}

// strict decodes JSON that has no members but those of into.
func strict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// matches tells whether text is what a pattern says: <*> stands for any characters, <n> for a number, <time> for an instant.
func matches(pattern, text string) bool {
	quoted := regexp.QuoteMeta(pattern)
	for place, means := range map[string]string{
		`<\*>`: `(?s:.*)`, `<n>`: `[0-9]+`, `<time>`: `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`,
	} {
		quoted = strings.ReplaceAll(quoted, place, means)
	}
	return regexp.MustCompile(`\A` + quoted + `\z`).MatchString(text)
}
