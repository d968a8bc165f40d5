package main

import (
	"fmt"
	"math/big"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// request is {"id":u64,"method":text,"params":any}; params may be missing.
type request struct {
	id     value.Value
	method string
	params value.Value
}

// limits are what a request may be; those of the daemon wire are what JSON readers of other languages take.
func limits() value.Limits {
	l := value.Limits{Depth: 128, Items: 1 << 20, IntBits: 1024}
	if wrong("depth-32") {
		l.Depth = 32
	}
	return l
}

// parse reads a request. The error is an errMalformed; with it comes what could be read.
func parse(body []byte) (request, error) {
	doc, err := value.Read(loosen(body), value.JSON, limits())
	v := doc.Value
	switch {
	case err != nil:
		return request{}, errMalformed(err.Error())
	case v.Kind == value.List && len(v.List) == 1 && wrong("lists-taken"):
		v = v.List[0]
	case v.Kind != value.Map:
		return request{}, errMalformed(fmt.Sprintf("a request is a map, and this is %v", v.Kind))
	}
	if err := misfit(v, doc.Loose); err != nil {
		return request{}, err
	}
	var r request
	id, _ := v.Get("id")
	if r.id = loosenID(id); r.id.Kind != value.Int || !r.id.Int.IsUint64() {
		return r, errMalformed("the id must be an integer from 0 to 2^64-1")
	}
	method, there := v.Get("method")
	if method.Kind != value.Text && !(there && wrong("any-method-taken")) {
		return r, errMalformed(fmt.Sprintf("the method must be text, and is %v", method.Kind))
	}
	r.method = method.Text
	r.params, _ = v.Get("params")
	return r, nil
}

// failure are the members of an error.
func failure(code, message string) []value.Member {
	e := value.OfMap(value.M("code", value.OfText(code)), value.M("message", value.OfText(message)))
	return []value.Member{value.M("error", e)}
}

// rounded is an integer as a reader has it whose only numbers are binary64.
func rounded(n *big.Int) *big.Int {
	f, _ := new(big.Float).SetInt(n).Float64()
	i, _ := big.NewFloat(f).Int(nil)
	return i
}
