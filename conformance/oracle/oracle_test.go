// Package oracle_test holds the JSON scanner to another author's: github.com/go-json-experiment/json/jsontext, strict. It is a
// module of its own, so that whoever uses kith does not get the other one with it.
//
//	cd conformance/oracle && go test . && go test -fuzz FuzzJSON -fuzztime 30s .
package oracle_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kith-wire/kith/shape"
)

// Limits of ENC-5, written down a second time on purpose.
const (
	depthMax = 64
	itemsMax = 262144
	bitsMax  = 1024
)

// expect says from the oracle alone whether the wire takes b: it is valid I-JSON, and it keeps to the rules that JSON does not
// have, which are those of ENC-4 on numbers and of ENC-5.
func expect(b []byte) (taken bool, why string) {
	if !jsontext.Value(b).IsValid() {
		return false, "it is not valid"
	}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	depth, items := 0, 0
	for {
		inside := depth > 0
		isName := d.StackDepth() > 0 && nameNext(d)
		tok, err := d.ReadToken()
		if err == io.EOF {
			return true, ""
		}
		if err != nil {
			return false, err.Error()
		}
		switch tok.Kind() {
		case jsontext.KindEndObject, jsontext.KindEndArray:
			depth--
			continue
		}
		if inside && (isName || !inObject(d, tok.Kind())) {
			items++
		}
		switch tok.Kind() {
		case jsontext.KindBeginObject, jsontext.KindBeginArray:
			depth++
		case jsontext.KindNumber:
			if why := number(tok.String()); why != "" {
				return false, why
			}
		}
		if depth > depthMax || items > itemsMax {
			return false, fmt.Sprintf("depth %d, items %d", depth, items)
		}
	}
}

// nameNext reports whether the next token is the name of a member, or the end of a map.
func nameNext(d *jsontext.Decoder) bool {
	kind, n := d.StackIndex(d.StackDepth())
	return kind == jsontext.KindBeginObject && n%2 == 0
}

// inObject reports whether a token that was just read, of a kind, stands in a map.
func inObject(d *jsontext.Decoder, of jsontext.Kind) bool {
	at := d.StackDepth()
	if of == jsontext.KindBeginObject || of == jsontext.KindBeginArray {
		at--
	}
	kind, _ := d.StackIndex(at)
	return kind == jsontext.KindBeginObject
}

// isInt tells an integer from a float (ENC-4).
func isInt(text string) bool { return text != "-0" && !strings.ContainsAny(text, ".eE") }

// number says why a valid JSON number is none of the wire's.
func number(text string) string {
	if isInt(text) {
		n, _ := new(big.Int).SetString(text, 10)
		if n.Sign() < 0 {
			n.Not(n) // -1-n
		}
		if n.BitLen() > bitsMax {
			return fmt.Sprintf("an integer of %d bits", n.BitLen())
		}
		return ""
	}
	v, err := strconv.ParseFloat(text, 64)
	if math.IsInf(v, 0) {
		return "it is beyond a binary64"
	}
	if err != nil {
		return err.Error()
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	if v == 0 && strings.ContainsAny(mantissa, "123456789") {
		return "it would become zero"
	}
	return ""
}

// agree checks that kith takes what the oracle and the rules say, and that it means the same in whatever kith writes of it.
func agree(t *testing.T, b []byte) (taken bool) {
	t.Helper()
	want, why := expect(b)
	v, err := shape.Limits{}.Value(b, shape.JSON)
	if (err == nil) != want {
		t.Fatalf("%.200q\nkith: %v\noracle: %v %s", b, err, want, why)
	}
	if err != nil {
		return false
	}
	text := v.Append(nil, shape.JSON)
	if !jsontext.Value(text).IsValid() {
		t.Fatalf("%.200q is written as %.200q, which is not valid", b, text)
	}
	sameTokens(t, b, text)
	again, err := shape.Limits{}.Value(v.Append(nil, shape.CBOR), shape.CBOR)
	if err != nil {
		t.Fatalf("%.200q is written in CBOR as %x: %v", b, v.Append(nil, shape.CBOR), err)
	}
	if back := again.Append(nil, shape.JSON); !bytes.Equal(back, text) {
		t.Fatalf("%.200q comes back from CBOR as %.200q", text, back)
	}
	return true
}

// sameTokens checks that two texts mean the same, token by token.
func sameTokens(t *testing.T, a, b []byte) {
	t.Helper()
	x, y := jsontext.NewDecoder(bytes.NewReader(a)), jsontext.NewDecoder(bytes.NewReader(b))
	for {
		p, perr := x.ReadToken()
		q, qerr := y.ReadToken()
		if perr == io.EOF && qerr == io.EOF {
			return
		}
		if perr != nil || qerr != nil {
			t.Fatalf("%.200q and %.200q: %v, %v", a, b, perr, qerr)
		}
		same := p.Kind() == q.Kind()
		switch {
		case same && p.Kind() == jsontext.KindString:
			same = p.String() == q.String()
		case same && p.Kind() == jsontext.KindNumber:
			same = sameNumber(p.String(), q.String())
		}
		if !same {
			t.Fatalf("%.200q is written as %.200q: %v became %v", a, b, p, q)
		}
	}
}

func sameNumber(a, b string) bool {
	if isInt(a) || isInt(b) {
		x, ok := new(big.Int).SetString(a, 10)
		y, ok2 := new(big.Int).SetString(b, 10)
		return isInt(a) && isInt(b) && ok && ok2 && x.Cmp(y) == 0
	}
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return math.Float64bits(x) == math.Float64bits(y)
}

// own are seeds that every run has: one for each branch of the rules.
var own = []string{
	`null`, ` true `, `[]`, `{}`, `{"call":"echo","args":[1,1.0,-0,-0.0,"\u2028<>&\/"]}`, `{"a":1,"\u0061":2}`, `{"a":{"a":1},"b":[{"a":2}]}`,
	`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\xaf\"", `1e400`, `1e-400`, `5e-324`, `2e-324`, `1.7976931348623157e308`,
	`9007199254740993`, `18446744073709551616`, `-18446744073709551617`, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `[1,]`, `{"a":1,}`, `1 2`, "\"a\nb\"", `"\x41"`, `nul`, `NaN`,
	"\ufeff1", "[1,\u20282]", `{"":1,"":2}`, `0e0`, `0E+5`, `100000000000000000000.0`, `1e21`, `{"k":"` + "\x7f" + `"}`, `"\uFFFF\u0000"`,
}

// seeds are own, limits, and texts of the vectors.
func seeds(t testing.TB) (all [][]byte) {
	t.Helper()
	for _, text := range own {
		all = append(all, []byte(text))
	}
	for _, n := range []int{depthMax, depthMax + 1} {
		all = append(all, []byte(strings.Repeat("[", n)+strings.Repeat("]", n)), []byte(strings.Repeat(`{"a":`, n-1)+"{}"+strings.Repeat("}", n-1)))
	}
	for _, bits := range []uint{bitsMax, bitsMax - 1} {
		n := new(big.Int).Lsh(big.NewInt(1), bits)
		for _, off := range []int64{-1, 0, 1} {
			text := new(big.Int).Add(n, big.NewInt(off)).String()
			all = append(all, []byte(text), []byte("-"+text))
		}
	}
	paths, err := filepath.Glob("../vectors/*.json")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d files of vectors: %v", len(paths), err)
	}
	for _, path := range paths {
		all = append(all, vectorTexts(t, path)...)
	}
	return all
}

// vectorTexts are the texts in a file of vectors: every string in it that looks like JSON.
func vectorTexts(t testing.TB, path string) (texts [][]byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := d.ReadToken()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if text := tok.String(); tok.Kind() == jsontext.KindString && text != "" && strings.ContainsAny(text[:1], `[{"-0123456789`) {
			texts = append(texts, []byte(text))
		}
	}
}

// corpus reads the corpora; nothing where there are none, which is a failure where KITH_REQUIRE says so.
func corpus(t testing.TB) (all [][]byte) {
	t.Helper()
	dir := os.Getenv("KITH_CORPORA")
	paths, err := filepath.Glob(filepath.Join(dir, "JSONTestSuite", "test_*", "*.json"))
	if err != nil || dir == "" || len(paths) == 0 {
		if os.Getenv("KITH_REQUIRE") == "1" {
			t.Fatalf("KITH_CORPORA is %q and there are no texts in it", dir)
		}
		return nil
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// TestSeeds holds every seed, so that a plain run says something too.
func TestSeeds(t *testing.T) {
	taken, refused := 0, 0
	for _, b := range seeds(t) {
		if agree(t, b) {
			taken++
		} else {
			refused++
		}
	}
	if taken < 100 || refused < 50 {
		t.Errorf("%d taken and %d refused are too few", taken, refused)
	}
}

// TestItems is about the one limit whose texts are too long for seeds.
func TestItems(t *testing.T) {
	for _, n := range []int{itemsMax, itemsMax + 1} {
		for _, text := range []string{
			"[" + strings.Repeat("0,", n-1) + "0]",
			"[" + strings.Repeat("[0],", (n-1)/2) + strings.Repeat("0,", (n-1)%2) + "0]",
		} {
			if taken := agree(t, []byte(text)); taken != (n <= itemsMax) {
				t.Errorf("%d items: taken %v", n, taken)
			}
		}
	}
}

// TestCorpora holds what others have collected.
func TestCorpora(t *testing.T) {
	all := corpus(t)
	if all == nil {
		t.Skip("KITH_CORPORA names no corpora")
	}
	if len(all) < 300 {
		t.Errorf("the corpora hold %d texts, fewer than they did", len(all))
	}
	for _, b := range all {
		agree(t, b)
	}
}

func FuzzJSON(f *testing.F) {
	for _, b := range append(seeds(f), corpus(f)...) {
		if len(b) < 64<<10 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { agree(t, b) })
}
