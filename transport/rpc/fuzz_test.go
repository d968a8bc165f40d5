package rpc

import (
	"bytes"
	"testing"

	"github.com/kith-wire/kith/shape"
)

// FuzzMessages: what is taken for a request or a response is written again as it was meant, and nothing else panics (RPC-2).
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"id":7,"method":"agent.list","params":{"limit":3}}`, `{"id":18446744073709551615,"method":"","params":null}`,
		` { "method" : "a.b" , "id" : 0 , "x" : [ { } ] } `, `{"id":1,"result":null}`, `{"id":1,"result":[1,-0.0,"\u2028"]}`,
		`{"id":2,"error":{"code":"busy","message":"\"later\"","data":1}}`, `{"id":1,"result":1,"error":null}`, `{"id":1}`, `{"id":1.0}`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	l := limits(shape.Limits{Frame: 1 << 16})
	f.Fuzz(func(t *testing.T, b []byte) {
		if req, err := parseRequest(bytes.Clone(b), l, "agent.list"); err == nil {
			call := shape.Call{Verb: req.method}
			if !req.params.IsZero() {
				call.Args = shape.NamedArgs(req.params)
			}
			if out, err := appendRequest(nil, req.id, call, l); err == nil {
				again, err := parseRequest(out[4:], l, "")
				if err != nil || again.id != req.id || again.method != req.method {
					t.Errorf("%q became %q: %v", b, out[4:], err)
				}
			}
		}
		res, err := parseResponse(bytes.Clone(b), l)
		if err != nil {
			return
		}
		var out []byte
		if res.failed == nil {
			out = appendResponse(nil, res.id, res.result.Rows(), nil, l)
		} else {
			out = appendFailure(nil, res.id, res.failed.code, res.failed.message)
		}
		again, err := parseResponse(out[4:], l)
		if err != nil || again.id != res.id {
			t.Fatalf("%q became %q: %v", b, out[4:], err)
		}
		if res.failed != nil && (again.failed == nil || *again.failed != *res.failed) {
			t.Errorf("%q became %q", b, out[4:])
		}
	})
}
