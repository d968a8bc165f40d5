package verbs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/verbs"
)

func fn[A, R any](context.Context, A) ([]R, error) { return nil, nil }

func add[A, R any](verb string, opts ...verbs.Option) func(*verbs.Set) {
	return func(s *verbs.Set) { verbs.Add(s, verb, "about", fn[A, R], opts...) }
}

func on[E any](event string) func(*verbs.Set) {
	return func(s *verbs.Set) { verbs.On(s, event, func(context.Context, E) {}) }
}

type embeds struct{ note }

// TestRegistration: what cannot be answered as it is declared is loud where it is registered, and says which and why.
func TestRegistration(t *testing.T) {
	type optionalFirst struct {
		A *int
		B int
	}
	type restFirst struct {
		A []int `kith:"rest"`
		B *int
	}
	for _, c := range []struct {
		want string // nothing: it is taken
		do   func(*verbs.Set)
	}{
		{`p: "Note": a verb is [a-z][a-z-]*`, add[none, int]("Note")},
		{`p: "": a verb is`, add[none, int]("")},
		{`p: "-a": a verb is`, add[none, int]("-a")},
		{`p: "a1": a verb is`, add[none, int]("a1")},
		{`p: "é": a verb is`, add[none, int]("é")},
		{``, add[none, int]("a-b")},
		{`p: verbs: every program has that word by itself`, add[none, int]("verbs")},
		{`p: client: every program`, add[none, int]("client")},
		{`p: serve: every program`, add[none, int]("serve")},
		{`p: pipe: every program`, add[none, int]("pipe")},
		{`p: help: every program`, add[none, int]("help")},
		{`p: taken: registered twice`, add[none, int]("taken")},
		{`p: x: about is "" and must be text`, func(s *verbs.Set) { verbs.Add(s, "x", "", fn[none, int]) }},
		{`p: x: about is "\xff"`, func(s *verbs.Set) { verbs.Add(s, "x", "\xff", fn[none, int]) }},
		{`p: x: its function is nil`, func(s *verbs.Set) { verbs.Add[none, int](s, "x", "about", nil) }},

		{`p: x: int is no struct`, add[int, int]("x")},
		{`p: x: *struct {} is no struct`, add[*none, int]("x")},
		{`p: x: argument B of verbs_test.optionalFirst: it is required and stands behind a, which is optional`, add[optionalFirst, int]("x")},
		{`p: x: argument B of verbs_test.restFirst: it stands behind a, which takes all that is left`, add[restFirst, int]("x")},
		{`it is tagged rest and is int, not a slice`, add[struct {
			A int `kith:"rest"`
		}, int]("x")},
		{`its tag kith is "opt", and optional and rest are known`, add[struct {
			A int `kith:"opt"`
		}, int]("x")},
		{`p: x: argument note of verbs_test.embeds: it is embedded`, add[embeds, int]("x")},
		{`argument B of struct { A int; B int "json:\"a\"" }: another one has this name`, add[struct {
			A int
			B int `json:"a"`
		}, int]("x")},
		{`p: x: argument A of struct { A chan int }: `, add[struct{ A chan int }, int]("x")},
		{`p: x: argument A of struct { A func() }: `, add[struct{ A func() }, int]("x")},
		{`p: x: argument A of struct { A []uint8 }: `, add[struct{ A []byte }, int]("x")},
		{`p: x: argument A of struct { A map[int]int }: `, add[struct{ A map[int]int }, int]("x")},
		{`p: x: argument A of struct { A complex128 }: `, add[struct{ A complex128 }, int]("x")},
		{`p: x: argument A of struct { A [][]chan int "kith:\"rest\"" }: `, add[struct {
			A [][]chan int `kith:"rest"`
		}, int]("x")},
		{``, add[struct {
			A int `json:"-"`
			b chan int
		}, int]("x")},

		{`p: x: a row: `, add[none, chan int]("x")},
		{`p: x: a row: `, add[none, map[int]int]("x")},
		{`p: x: a row is []int, and a listing has each thing in its own row`, add[none, []int]("x")},
		{`p: x: a row is [2]int, and`, add[none, [2]int]("x")},
		{`p: x: a row is *[]int, and`, add[none, *[]int]("x")},
		{``, add[none, []int]("x", verbs.ListRows())},
		{``, add[none, any]("x")},
		{``, add[none, shape.Raw]("x")},

		{`p: run: a verb of that name is on the socket only with RunsCode`, add[none, int]("run")},
		{`p: exec: a verb`, add[none, int]("exec")},
		{`p: shell: a verb`, add[none, int]("shell")},
		{`p: eval: a verb`, add[none, int]("eval", verbs.Doors(transport.Socket))},
		{`p: spawn: a verb`, add[none, int]("spawn")},
		{``, add[none, int]("run", verbs.RunsCode())},
		{``, add[none, int]("run", verbs.Doors(transport.CLI, transport.Pipe))},

		{`p: x: it has no door`, add[none, int]("x", verbs.Doors())},
		{`p: x: Client is an option of New`, add[none, int]("x", verbs.Client(""))},
		{`p: x: Log is an option of New`, add[none, int]("x", verbs.Log(nil))},

		{`p: event "": a name is text and not empty`, on[none]("")},
		{`p: event "\xff": a name`, on[none]("\xff")},
		{`p: event heard: registered twice`, on[none]("heard")},
		{`p: event x: its function is nil`, func(s *verbs.Set) { verbs.On[none](s, "x", nil) }},
		{`p: event x: string is no struct`, on[string]("x")},
		{`p: event x: member A of struct { A chan int }: `, on[struct{ A chan int }]("x")},
		{`rest is for arguments, and a member has a name`, on[struct {
			A []int `kith:"rest"`
		}]("x")},
		{``, on[struct {
			A *int
			B int
		}]("x")},
	} {
		set := verbs.New("p", 1)
		add[none, int]("taken")(set)
		on[none]("heard")(set)
		loud(t, c.want, func() { c.do(set) })
	}
}

// TestRegistrationOfSet: the same for a program itself.
func TestRegistrationOfSet(t *testing.T) {
	for _, c := range []struct {
		want    string
		name    string
		surface uint64
		opts    []verbs.Option
	}{
		{`the program is named ""`, "", 1, nil},
		{`the program is named "a/b"`, "a/b", 1, nil},
		{`the program is named ".."`, "..", 1, nil},
		{`the program is named "-a"`, "-a", 1, nil},
		{`p: surface is 0 and counts from 1`, "p", 0, nil},
		{`p: its doors are without the cli`, "p", 1, []verbs.Option{verbs.Doors(transport.Socket)}},
		{`p: ListRows is an option of a verb`, "p", 1, []verbs.Option{verbs.ListRows()}},
		{`p: RunsCode is an option of a verb`, "p", 1, []verbs.Option{verbs.RunsCode()}},
		{`p: its client is not UTF-8`, "p", 1, []verbs.Option{verbs.Client("\xff")}},
		{``, "p", 1, []verbs.Option{verbs.Doors(transport.CLI)}},
	} {
		loud(t, c.want, func() { verbs.New(c.name, c.surface, c.opts...) })
	}
	loud(t, `p: x: it has a door that the program has not`, func() {
		set := verbs.New("p", 1, verbs.Doors(transport.CLI, transport.Pipe))
		add[none, int]("x", verbs.Doors(transport.CLI, transport.Socket))(set)
	})
	loud(t, ``, func() { // no socket, so no socket row of that name
		add[none, int]("run")(verbs.New("p", 1, verbs.Doors(transport.CLI)))
	})
	called := verbs.New("p", 1)
	words(t, called, "verbs")
	loud(t, `p: x: registered after the first call`, func() { add[none, int]("x")(called) })
	loud(t, `p: event "x": registered after the first call`, func() { on[none]("x")(called) })
}

// loud runs do and checks what it panics with; "" is not at all.
func loud(t *testing.T, want string, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got := recover()
		if want == "" {
			if got != nil {
				t.Errorf("panic: %v", got)
			}
			return
		}
		if text := fmt.Sprint(got); got == nil || !strings.HasPrefix(text, "verbs: ") || !strings.Contains(text, want) {
			t.Errorf("panic: %v\nwant: %s", got, want)
		}
	}()
	do()
}
