package verbs_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/transporttest"
	"github.com/kith-wire/kith/verbs"
)

type none = struct{}

type noteArgs struct {
	Text string
	Tags []string `kith:"rest"`
}

type listArgs struct {
	Limit *int
}

type note struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

func nothing(context.Context, none) ([]int, error) { return nil, nil }

// book is a small program that has one of each.
func book(opts ...verbs.Option) *verbs.Set {
	set := verbs.New("book", 3, opts...)
	verbs.Add(set, "note", "keep a line", func(_ context.Context, a noteArgs) ([]note, error) {
		return []note{{ID: len(a.Tags), Text: a.Text}}, nil
	})
	verbs.Add(set, "list", "the lines", func(_ context.Context, a listArgs) ([]note, error) {
		if a.Limit == nil {
			return nil, nil
		}
		return make([]note, *a.Limit), nil
	})
	verbs.Add(set, "watch", "the lines to come", nothing, verbs.Doors(transport.Pipe, transport.Socket))
	return set
}

const bookVerbs = `{"ok":true,"family":1,"surface":3,"n":16,"result":[` +
	`{"verb":"note","about":"keep a line","door":"cli","args":[{"name":"text","type":"text"},{"name":"tags","type":"text","rest":true}]},` +
	`{"verb":"list","about":"the lines","door":"cli","args":[{"name":"limit","type":"int","optional":true}]},` +
	`{"verb":"verbs","about":"what this program answers, a row for each verb and door","door":"cli"},` +
	`{"verb":"client","about":"a client library for this program, as source","door":"cli"},` +
	`{"verb":"serve","about":"answer on a socket until told to stop","door":"cli"},` +
	`{"verb":"pipe","about":"answer on stdin and stdout until stdin ends","door":"cli"},` +
	`{"verb":"note","about":"keep a line","door":"pipe","args":[{"name":"text","type":"text"},{"name":"tags","type":"text","rest":true}]},` +
	`{"verb":"list","about":"the lines","door":"pipe","args":[{"name":"limit","type":"int","optional":true}]},` +
	`{"verb":"watch","about":"the lines to come","door":"pipe"},` +
	`{"verb":"verbs","about":"what this program answers, a row for each verb and door","door":"pipe"},` +
	`{"verb":"client","about":"a client library for this program, as source","door":"pipe"},` +
	`{"verb":"note","about":"keep a line","door":"socket","args":[{"name":"text","type":"text"},{"name":"tags","type":"text","rest":true}]},` +
	`{"verb":"list","about":"the lines","door":"socket","args":[{"name":"limit","type":"int","optional":true}]},` +
	`{"verb":"watch","about":"the lines to come","door":"socket"},` +
	`{"verb":"verbs","about":"what this program answers, a row for each verb and door","door":"socket"},` +
	`{"verb":"client","about":"a client library for this program, as source","door":"socket"}]}`

// TestVerbsReply: VERBS-1 and VER-2, byte for byte on every door.
func TestVerbsReply(t *testing.T) {
	for _, door := range allDoors {
		if got := string(ask(t, book(), door, shape.JSON, `{"call":"verbs"}`)); got != bookVerbs {
			t.Errorf("%s:\ngot  %s\nwant %s", door, got, bookVerbs)
		}
	}
	for _, door := range []transport.Door{transport.CLI, transport.Socket} {
		got := ask(t, book(), door, shape.CBOR, `{"call":"verbs"}`)
		// five members: ok, family, surface 3, n 16, result: a list of 16 maps, the first of four members, its verb "note"
		head := "a5626f6bf56666616d696c790167737572666163650361" + "6e1066726573756c7490a46476657262646e6f7465"
		if !strings.HasPrefix(hex.EncodeToString(got), head) {
			t.Errorf("%s: cbor begins %x", door, got[:len(head)/2])
		}
		if got := asJSON(t, got); got != bookVerbs {
			t.Errorf("%s: cbor holds\n%s", door, got)
		}
	}
}

// TestNoSocketNoServe: serve and pipe are rows of the cli only where the program has those doors (VERBS-2).
func TestNoSocketNoServe(t *testing.T) {
	for want, doors := range map[string][]transport.Door{
		"verbs client":            {transport.CLI},
		"verbs client pipe":       {transport.CLI, transport.Pipe},
		"verbs client serve":      {transport.CLI, transport.Socket},
		"verbs client serve pipe": allDoors,
	} {
		got := listed(t, verbs.New("p", 1, verbs.Doors(doors...)), transport.CLI)["cli"]
		if strings.Join(got, " ") != want {
			t.Errorf("doors %v: cli rows %v", doors, got)
		}
	}
}

// listed asks for the verbs, by door.
func listed(t *testing.T, h transport.Handler, door transport.Door) map[string][]string {
	t.Helper()
	var reply struct{ Result []struct{ Verb, Door string } }
	if err := json.Unmarshal(ask(t, h, door, shape.JSON, `{"call":"verbs"}`), &reply); err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, r := range reply.Result {
		rows[r.Door] = append(rows[r.Door], r.Verb)
	}
	return rows
}

// TestAdvertisedIsDispatched: on each door what is listed is answered and what is not listed is not (FAULT-5).
func TestAdvertisedIsDispatched(t *testing.T) {
	every := []string{"note", "list", "watch", "verbs", "client", "serve", "pipe", "help", "nothing", "Note", "note "}
	for _, door := range allDoors {
		for name, set := range map[string]*verbs.Set{
			"all": book(), "cli": verbs.New("p", 1, verbs.Doors(transport.CLI)), "no client": book(verbs.Client("")),
		} {
			if name == "cli" && door != transport.CLI {
				continue
			}
			rows := listed(t, set, door)[door.String()]
			for _, verb := range every {
				got := string(ask(t, set, door, shape.JSON, fmt.Sprintf(`{"call":%q,"args":[]}`, verb)))
				unknown := strings.Contains(got, `"error":"no such call: `+verb+`"`)
				is := false
				for _, row := range rows {
					is = is || row == verb
				}
				if unknown == is {
					t.Errorf("%s, %s: listed %v, and the call is answered %.200s", name, door, is, got)
				}
			}
		}
	}
}

// TestUnknownVerb: FAULT-3, and ENC-5 for what is quoted of it.
func TestUnknownVerb(t *testing.T) {
	for call, want := range map[string]string{
		`{"call":"nothing"}`:                         `"no such call: nothing"`,
		`{"call":"a\u0007b"}`:                        `"no such call: a\\ab"`,
		`{"call":"Note","args":["x"]}`:               `"no such call: Note"`,
		`{"call":"nothing","args":[1]}`:              `"no such call: nothing"`,
		`{"call":"` + strings.Repeat("é", 50) + `"}`: `"no such call: ` + strings.Repeat("é", 32) + `…"`,
	} {
		for _, door := range allDoors {
			if got := string(ask(t, book(), door, shape.JSON, call)); got != refusal(want) {
				t.Errorf("%s: %s", door, got)
			}
		}
	}
	if got, want := string(ask(t, book(), transport.CLI, shape.JSON, `{"call":"watch"}`)), refusal(`"no such call: watch"`); got != want {
		t.Errorf("the wrong door: %s", got)
	}
}

// TestClientVerb: `client` is one row of text, another one, or a refusal that says why (VERBS-1).
func TestClientVerb(t *testing.T) {
	own := verbs.New("p", 1, verbs.Client("print(1)\n"))
	for _, door := range allDoors {
		if got, want := string(ask(t, own, door, shape.JSON, `{"call":"client"}`)), `{"ok":true,"family":1,"n":1,"result":["print(1)\n"]}`; got != want {
			t.Errorf("%s: %s", door, got)
		}
	}
	without := verbs.New("p", 1, verbs.Client(""))
	if got, want := words(t, without, "client"), refusal(`"client: p has no client library: it was built without one"`); got != want {
		t.Errorf("without: %s", got)
	}
	if got, want := words(t, own, "client", "ruby"), refusal(`"client: argument 1 is \"ruby\" and none is taken"`); got != want {
		t.Errorf("with an argument: %s", got)
	}
	if source := clientSource(t); !strings.HasPrefix(source, "#!/usr/bin/env python3\n") || len(source) > 64<<10 {
		t.Errorf("the client is %d bytes", len(source))
	}
}

// TestErrors: an error of a verb keeps its fault; one without is failed (FAULT-1, FAULT-3).
func TestErrors(t *testing.T) {
	for want, err := range map[string]error{
		`"error":"no","fault":"refused"`:        shape.Refused.Errorf("no"),
		`"error":"disk: full","fault":"failed"`: shape.Failed.Errorf("disk: %w", errors.New("full")),
		`"error":"odd","fault":"failed"`:        errors.New("odd"),
	} {
		set := verbs.New("p", 1)
		verbs.Add(set, "x", "fails", func(context.Context, none) ([]int, error) { return []int{1}, err })
		if got := words(t, set, "x"); got != `{"ok":false,"family":1,"n":0,"result":[],`+want+`}` {
			t.Errorf("%v: %s", err, got)
		}
	}
}

// TestTogether: a set is safe for use at once from its first call on, and each call has arguments of its own.
func TestTogether(t *testing.T) {
	transporttest.Leaks(t)
	set := verbs.New("p", 1)
	type args struct {
		N    int
		Rest []string `kith:"rest"`
	}
	verbs.Add(set, "keep", "its arguments", func(_ context.Context, a args) ([]args, error) { return []args{a}, nil })
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			toSet, toUs := transport.Pair(nil, set)
			defer func() { <-toUs.Done() }()
			defer toSet.Close()
			var kept []args
			for n := range 50 {
				rows, err := transport.Call[args](context.Background(), toSet, "keep", n, fmt.Sprint(i), fmt.Sprint(n))
				if err != nil {
					t.Error(err)
					return
				}
				kept = append(kept, rows...)
			}
			for n, a := range kept {
				if a.N != n || len(a.Rest) != 2 || a.Rest[0] != fmt.Sprint(i) || a.Rest[1] != fmt.Sprint(n) {
					t.Errorf("call %d of %d was given %v", n, i, a)
				}
			}
		})
	}
	all.Wait()
}

// TestOneMessage: one row in CBOR begins as ENC-3 says.
func TestOneMessage(t *testing.T) {
	got := ask(t, book(), transport.Socket, shape.CBOR, `{"call":"note","args":["a"]}`)
	want := []byte("\xa4\x62ok\xf5\x66family\x01\x61n\x01\x66result\x81\xa2\x62id\x00\x64text\x61a")
	if !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}
