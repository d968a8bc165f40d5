package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// contender is one way for two programs to talk. Each is a file of its own, which registers it; what it leaves nil it cannot do,
// and it is then no part of the measures that need it.
type contender struct {
	name   string   // one word
	title  string   // for people
	tag    string   // the build tag that links it, see build.go; empty: nothing is linked for it
	module string   // the module whose version is reported; empty: this Go's standard library
	peer   bool     // a framework somebody could choose, and no floor and no kith
	only   []string // the measures it is for; nil: all that it can do

	// serve is its server: it calls ready once it can be dialed at path, and returns when it has ended, or never. A server that its
	// client starts gets an empty path and talks on stdin and stdout.
	serve func(measure, path string, ready func()) error
	// dial makes a connection, in another process.
	dial func(measure, path string) (client, error)
	// starts says that dial starts the server too, and that there is no path.
	starts bool
	// shared says that many may call over one connection at once.
	shared bool
	// pipe starts a server at the other end of two pipes.
	pipe func() (client, error)
	// program is the folder of a Go program that is run once for each call.
	program string
	// local are measures within one process: each makes the operation, and says how many bytes one takes.
	local map[string]func() (op func() error, bytes int)
	// native is the C source of a program that is client and server itself, see build.go; it knows the measures in only.
	native string
}

// client is one connection as its user sees it.
type client interface {
	Echo(text string) (string, error)
	Blob() (bytes int, err error)                  // one text of blobSize bytes
	List(n int) (rows int, last string, err error) // n rows of three texts, typed; last is the last text of the last
	Close() error
}

// burster is a client whose own API sends many calls before it waits for the first reply.
type burster interface {
	Burst(n int) error
}

const (
	echoText = "a line of text as calls carry it"
	blobSize = 1 << 20
	listRows = 10_000
	callers  = 64
	parties  = 16
	idlers   = 1000
)

// Said is what an echo takes and gives, in the contenders that bind types. It and Row are exported for net/rpc.
type Said struct {
	Text string `json:"text"`
}

// Row is a row of a listing.
type Row struct {
	ID   string `json:"id"`
	At   string `json:"at"`
	Text string `json:"text"`
}

// listing makes the rows that a server lists: all contenders list the same.
func listing(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{
			ID: fmt.Sprintf("n-%06d", i), At: fmt.Sprintf("2024-05-01T12:%02d:%02dZ", i/60%60, i%60), Text: lastText(i + 1),
		}
	}
	return rows
}

// lastText is the text of the last of n rows.
func lastText(n int) string { return fmt.Sprintf("remember the milk, it is %06d", n-1) }

// blob is the text of one large row.
func blob() string {
	b := make([]byte, blobSize)
	for i := range b {
		b[i] = "all plain text, of which there is a lot. "[i%41]
	}
	return string(b)
}

// held is what a server answers from: what its measure asks for, and nothing that would only take memory.
func held(measure string) (text string, rows []Row) {
	switch measure {
	case "blob":
		text = blob()
	case "list":
		rows = listing(listRows)
	case "rows", "bytes":
		rows = listing(largest)
	}
	return text, rows
}

// kithModule is the module that is measured here.
const kithModule = "github.com/kith-wire/kith"

// largest is how many rows are listed at most.
const largest = 100_000

var contenders []contender

func register(c contender) { contenders = append(contenders, c) }

func find(name string) (contender, error) {
	i := slices.IndexFunc(contenders, func(c contender) bool { return c.name == name })
	if i < 0 {
		return contender{}, fmt.Errorf("no contender is named %q in this build", name)
	}
	return contenders[i], nil
}

// slice is what a client process has while it measures.
type slice struct {
	contender
	measure string
	path    string        // of the server's socket, or of the program
	control string        // where the server tells about itself
	time    time.Duration // how long to measure
}

func (s slice) dialOne() (client, error) { return s.dial(s.measure, s.path) }

var errBlob = errors.New("the text that came is not the one that was sent")

// checkedEcho calls once and looks at what came.
func checkedEcho(c client) error {
	text, err := c.Echo(echoText)
	if err == nil && text != echoText {
		err = fmt.Errorf("echo returned %.40q", text)
	}
	return err
}

func checkedBlob(c client) error {
	n, err := c.Blob()
	if err == nil && n != blobSize {
		err = errBlob
	}
	return err
}

func checkedList(c client, n int) error {
	rows, last, err := c.List(n)
	if err == nil && (rows != n || n > 0 && last != "" && last != lastText(n)) {
		err = fmt.Errorf("the listing has %d rows of %d, the last is %.60q", rows, n, last)
	}
	return err
}
