package verbs_test

import (
	"context"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/verbs"
)

type point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// takes is a set with one verb for each way to take arguments; each answers what it was given.
func takes() *verbs.Set {
	set := verbs.New("takes", 1)
	verbs.Add(set, "none", "nothing", show[none])
	verbs.Add(set, "text", "a text", show[struct{ T string }])
	verbs.Add(set, "int", "an int", show[struct{ N int }])
	verbs.Add(set, "byte", "a small int", show[struct{ N uint8 }])
	verbs.Add(set, "big", "an int of any size", show[struct{ N *big.Int }])
	verbs.Add(set, "number", "a number", show[struct{ F float64 }])
	verbs.Add(set, "bool", "a bool", show[struct{ B bool }])
	verbs.Add(set, "list", "a list", show[struct{ L []int }])
	verbs.Add(set, "map", "a map", show[struct{ P point }])
	verbs.Add(set, "any", "anything", show[struct{ V any }])
	verbs.Add(set, "time", "a time", show[struct{ At time.Time }])
	verbs.Add(set, "maybe", "an optional int", show[struct {
		N *int
		T *string
	}])
	verbs.Add(set, "zero", "an optional int and text by tag", show[struct {
		N int    `kith:"optional"`
		T string `kith:"optional"`
	}])
	verbs.Add(set, "rest", "a text and ints", show[struct {
		T string
		N []int `json:"n,omitempty" kith:"rest"`
	}])
	verbs.Add(set, "echo", "its arguments", func(_ context.Context, a struct {
		V []shape.Raw `kith:"rest"`
	}) ([]shape.Raw, error) {
		return a.V, nil
	})
	return set
}

// show is a verb that answers its arguments, written as Go writes them.
func show[A any](_ context.Context, a A) ([]string, error) {
	switch a := any(a).(type) {
	case struct {
		N *int
		T *string
	}:
		return []string{shown(a.N), shown(a.T)}, nil
	case struct{ At time.Time }:
		return []string{a.At.UTC().String()}, nil
	case struct{ V any }:
		return []string{fmt.Sprintf("%T %v", a.V, a.V)}, nil
	}
	return []string{fmt.Sprintf("%v", a)}, nil
}

func shown[T any](p *T) string {
	if p == nil {
		return "nil"
	}
	return fmt.Sprint(*p)
}

// rows is the reply that answers with these texts.
func rows(n int, result string) string {
	return fmt.Sprintf(`{"ok":true,"family":1,"n":%d,"result":[%s]}`, n, result)
}

// TestBindList: arguments in a list, the same in both encodings (ENC-6), refused by verb, argument, what came and what is
// taken (FAULT-3).
func TestBindList(t *testing.T) {
	for _, c := range []struct{ verb, args, want string }{
		{"none", `[]`, rows(1, `"{}"`)},
		{"none", `[1]`, refusal(`"none: argument 1 is 1 and none is taken"`)},
		{"none", `[null]`, refusal(`"none: argument 1 is null and none is taken"`)},
		{"text", `["a"]`, rows(1, `"{a}"`)},
		{"text", `[]`, refusal(`"text: t is missing and text is taken"`)},
		{"text", `["a","b"]`, refusal(`"text: argument 2 is \"b\" and at most 1 are taken"`)},
		{"text", `[1]`, refusal(`"text: t is 1 and text is taken"`)},
		{"text", `[null]`, refusal(`"text: t is null and text is taken"`)},
		{"int", `[7]`, rows(1, `"{7}"`)},
		{"int", `[7.0]`, rows(1, `"{7}"`)},
		{"int", `[-1e2]`, rows(1, `"{-100}"`)},
		{"int", `["7"]`, refusal(`"int: n is \"7\" and int is taken"`)},
		{"int", `[true]`, refusal(`"int: n is true and int is taken"`)},
		{"int", `[null]`, refusal(`"int: n is null and int is taken"`)},
		{"big", `[36893488147419103232]`, rows(1, `"{36893488147419103232}"`)},
		{"number", `[1]`, rows(1, `"{1}"`)},
		{"number", `[0.5]`, rows(1, `"{0.5}"`)},
		{"number", `["0.5"]`, refusal(`"number: f is \"0.5\" and number is taken"`)},
		{"bool", `[true]`, rows(1, `"{true}"`)},
		{"bool", `[0]`, refusal(`"bool: b is 0 and bool is taken"`)},
		{"list", `[[1,2]]`, rows(1, `"{[1 2]}"`)},
		{"list", `[1,2]`, refusal(`"list: l is 1 and list is taken"`)},
		{"map", `[{"x":1,"y":2,"z":3}]`, rows(1, `"{{1 2}}"`)},
		{"map", `[[]]`, refusal(`"map: p is [] and map is taken"`)},
		{"any", `[1.0]`, rows(1, `"float64 1"`)},
		{"any", `[1]`, rows(1, `"int64 1"`)},
		{"any", `[null]`, rows(1, `"<nil> <nil>"`)},
		{"any", `[{"a":[true]}]`, rows(1, `"map[string]interface {} map[a:[true]]"`)},
		{"any", `[]`, refusal(`"any: v is missing and any is taken"`)},
		{"time", `["2026-01-02T03:04:05Z"]`, rows(1, `"2026-01-02 03:04:05 +0000 UTC"`)},
		{"maybe", `[]`, rows(2, `"nil","nil"`)},
		{"maybe", `[0]`, rows(2, `"0","nil"`)},
		{"maybe", `[null,""]`, rows(2, `"nil",""`)},
		{"maybe", `["null"]`, refusal(`"maybe: n is \"null\" and int is taken"`)},
		{"maybe", `[1,"a",2]`, refusal(`"maybe: argument 3 is 2 and at most 2 are taken"`)},
		{"zero", `[]`, rows(1, `"{0 }"`)},
		{"zero", `[null,"a"]`, rows(1, `"{0 a}"`)},
		{"zero", `[5,null]`, rows(1, `"{5 }"`)},
		{"zero", `["null"]`, refusal(`"zero: n is \"null\" and int is taken"`)},
		{"rest", `["a"]`, rows(1, `"{a []}"`)},
		{"rest", `["a",1,2,3]`, rows(1, `"{a [1 2 3]}"`)},
		{"rest", `["a",1,"2"]`, refusal(`"rest: n is \"2\" and int is taken"`)},
		{"rest", `["a",[1]]`, refusal(`"rest: n is [1] and int is taken"`)},
		{"rest", `[]`, refusal(`"rest: t is missing and text is taken"`)},
		{"echo", `[]`, rows(0, ``)},
		{"echo", `[1.0,-0.0,9007199254740993,null,{"b":1,"a":[]},"<>&"]`, rows(6, `1.0,-0.0,9007199254740993,null,{"b":1,"a":[]},"<>&"`)},
	} {
		call := fmt.Sprintf(`{"call":%q,"args":%s}`, c.verb, c.args)
		if got := string(ask(t, takes(), transport.CLI, shape.JSON, call)); got != c.want {
			t.Errorf("%s json:\ngot  %s\nwant %s", call, got, c.want)
		}
		if got := asJSON(t, ask(t, takes(), transport.CLI, shape.CBOR, call)); got != c.want {
			t.Errorf("%s cbor:\ngot  %s\nwant %s", call, got, c.want)
		}
	}
}

// TestBindWords: a word is text, or JSON where the parameter is something else (ARGV-3).
func TestBindWords(t *testing.T) {
	for _, c := range []struct {
		verb  string
		words []string
		want  string
	}{
		{"text", []string{"5"}, rows(1, `"{5}"`)},
		{"text", []string{""}, rows(1, `"{}"`)},
		{"text", []string{`"a"`}, rows(1, `"{\"a\"}"`)},
		{"int", []string{"5"}, rows(1, `"{5}"`)},
		{"int", []string{" 5 "}, rows(1, `"{5}"`)},
		{"int", []string{`"5"`}, refusal(`"int: n is \"5\" and int is taken"`)},
		{"number", []string{"1e2"}, rows(1, `"{100}"`)},
		{"bool", []string{"true"}, rows(1, `"{true}"`)},
		{"list", []string{"[1,2]"}, rows(1, `"{[1 2]}"`)},
		{"map", []string{`{"x":1}`}, rows(1, `"{{1 0}}"`)},
		{"any", []string{`"a"`}, rows(1, `"string a"`)},
		{"any", []string{`1`}, rows(1, `"int64 1"`)},
		{"time", []string{"2026-01-02T03:04:05Z"}, rows(1, `"2026-01-02 03:04:05 +0000 UTC"`)},
		{"maybe", []string{"null", "null"}, rows(2, `"nil","null"`)},
		{"maybe", []string{"3", "x"}, rows(2, `"3","x"`)},
		{"zero", []string{"null", "null"}, rows(1, `"{0 null}"`)},
		{"rest", []string{"a", "1", "2"}, rows(1, `"{a [1 2]}"`)},
		{"echo", []string{"1.0", `"a"`, "null"}, rows(3, `1.0,"a",null`)},
		{"none", []string{"x"}, refusal(`"none: argument 1 is \"x\" and none is taken"`)},
	} {
		if got := words(t, takes(), c.verb, c.words...); got != c.want {
			t.Errorf("%s %q:\ngot  %s\nwant %s", c.verb, c.words, got, c.want)
		}
	}
	for _, c := range []struct{ verb, word, begins string }{
		{"int", "x", `int: n is \"x\" and int is taken`},
		{"any", "x", `any: v is \"x\" and any is taken`},
		{"list", "1,2", `list: l is \"1,2\" and list is taken`},
		{"echo", "x", `echo: v is \"x\" and any is taken`},
		{"int", "", `int: n is \"\" and int is taken`},
	} {
		want := `{"ok":false,"family":1,"n":0,"result":[],"error":"` + c.begins
		if got := words(t, takes(), c.verb, c.word); len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%s %q:\ngot  %s\nwant %s…", c.verb, c.word, got, want)
		}
	}
}

// TestBindInner: what is wrong inside an argument is named by where it stands.
func TestBindInner(t *testing.T) {
	for call, want := range map[string]string{
		`{"call":"list","args":[[1,"x"]]}`:    `"list: l[1] is \"x\" and int is taken"`,
		`{"call":"map","args":[{"y":"far"}]}`: `"map: p.y is \"far\" and int is taken"`,
	} {
		for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
			if got := asJSON(t, ask(t, takes(), transport.CLI, enc, call)); got != refusal(want) {
				t.Errorf("%s %s: %s", call, enc, got)
			}
		}
	}
}

// TestBindOwns: what a verb is given is its own: it may keep it when the bytes it came in are used again.
func TestBindOwns(t *testing.T) {
	type args struct {
		T string
		L []string
		V any
		R shape.Raw
	}
	var kept []args
	set := verbs.New("p", 1)
	verbs.Add(set, "keep", "its arguments", func(_ context.Context, a args) ([]int, error) {
		kept = append(kept, a)
		return nil, nil
	})
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		value, err := shape.Limits{}.Value([]byte(`{"call":"keep","args":["aaaa",["bbbb"],{"k":"cccc"},["dddd"]]}`))
		if err != nil {
			t.Fatal(err)
		}
		body := value.Append(nil, enc)
		msg, err := shape.Limits{}.Read(body, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := set.Call(context.Background(), msg.Call); err != nil {
			t.Fatal(err)
		}
		for i := range body {
			body[i] = 'z'
		}
	}
	for _, a := range kept {
		if got := fmt.Sprint(a.T, a.L, a.V, string(a.R.Append(nil, shape.JSON))); got != `aaaa[bbbb] map[k:cccc]["dddd"]` {
			t.Errorf("kept %s", got)
		}
	}
}

// TestBindForgets: no call finds what another left, taken or refused.
func TestBindForgets(t *testing.T) {
	set := takes()
	for _, c := range []struct{ verb, args, want string }{
		{"maybe", `[5,"x"]`, rows(2, `"5","x"`)},
		{"maybe", `[]`, rows(2, `"nil","nil"`)},
		{"maybe", `[5,6]`, refusal(`"maybe: t is 6 and text is taken"`)},
		{"maybe", `[]`, rows(2, `"nil","nil"`)},
		{"rest", `["a",1,2,3]`, rows(1, `"{a [1 2 3]}"`)},
		{"rest", `["b",4]`, rows(1, `"{b [4]}"`)},
		{"rest", `["c"]`, rows(1, `"{c []}"`)},
		{"zero", `[7,"y"]`, rows(1, `"{7 y}"`)},
		{"zero", `[null]`, rows(1, `"{0 }"`)},
	} {
		if got := string(ask(t, set, transport.CLI, shape.JSON, fmt.Sprintf(`{"call":%q,"args":%s}`, c.verb, c.args))); got != c.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.verb, c.args, got, c.want)
		}
	}
}

// TestCallAllocates: binding makes nothing but what the arguments are made of.
func TestCallAllocates(t *testing.T) {
	set := verbs.New("p", 1)
	verbs.Add(set, "echo", "its argument", func(_ context.Context, a struct{ N int }) ([]int, error) { return nil, nil })
	msg, err := shape.Limits{}.Read([]byte(`{"call":"echo","args":[7]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	call := msg.Call
	made := testing.AllocsPerRun(100, func() {
		if _, err := set.Call(ctx, call); err != nil {
			t.Fatal(err)
		}
	})
	if made > 0 {
		t.Errorf("a call makes %v things", made)
	}
}
