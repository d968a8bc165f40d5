package verbs_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape"
)

// RPC-6: arguments by name go where the verb declares them; unknown, missing and wrong ones are refused by name, with the code that
// the daemon wire has for it.
func TestNamedArguments(t *testing.T) {
	set := takes()
	for _, c := range []struct{ verb, params, want string }{
		{"none", ``, "ok"},
		{"none", `{}`, "ok"},
		{"none", `null`, "ok"},
		{"none", `{"x":1}`, "none: x is no argument, and none is taken"},
		{"text", `{"t":"a"}`, "ok"},
		{"text", `{}`, "text: t is missing and text is taken"},
		{"text", `{"t":1}`, "text: t is 1 and text is taken"},
		{"text", `{"t":"a","u":1}`, "text: u is no argument, and taken are t"},
		{"text", `["a"]`, "text: params is list and must be a map"},
		{"maybe", `{"t":"a"}`, "ok"},
		{"maybe", `{"n":null,"t":"a"}`, "ok"},
		{"rest", `{"t":"a"}`, "ok"},
		{"rest", `{"t":"a","n":[1,2]}`, "ok"},
		{"echo", `{"v":[1,"two"]}`, "ok"},
	} {
		call := shape.Call{Verb: c.verb}
		call.Args = shape.NamedArgs(shape.Raw{})
		if c.params != "" {
			raw, err := shape.Limits{}.Value([]byte(c.params))
			if err != nil {
				t.Fatal(err)
			}
			call.Args = shape.NamedArgs(raw)
		}
		_, err := set.Call(context.Background(), call)
		got, code := "ok", ""
		var e *shape.Error
		if errors.As(err, &e) {
			got, code = e.Text, e.Code
		}
		wantCode := "invalid_params"
		if c.want == "ok" {
			wantCode = ""
		}
		if !strings.HasPrefix(got, c.want) || code != wantCode {
			t.Errorf("%s %s: got %q, code %q; want %q, %q", c.verb, c.params, got, code, c.want, wantCode)
		}
	}
	_, err := set.Call(context.Background(), shape.Call{Verb: "nope"})
	var e *shape.Error
	if !errors.As(err, &e) || e.Code != "unknown_method" {
		t.Errorf("an unknown verb: %#v", err)
	}
}
