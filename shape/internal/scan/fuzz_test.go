package scan

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// longExponent is a number that the standard library reads wrong: strconv keeps five digits of an exponent.
var longExponent = regexp.MustCompile(`[eE][+-]?[0-9]{5,}`)

// twin says which rule a value of valid JSON breaks, by a slow walk over the tokens of encoding/json; "" is none.
type twin struct{ items int }

func (w *twin) value(d *json.Decoder, depth int) string {
	token, err := d.Token()
	if err != nil {
		return "syntax"
	}
	switch v := token.(type) {
	case json.Number:
		return w.number(string(v))
	case json.Delim:
		if depth++; depth > standard.Depth {
			return "depth"
		}
		names := map[string]bool{}
		for d.More() {
			if v == '{' {
				name, _ := d.Token()
				if names[name.(string)] {
					return "duplicate"
				}
				names[name.(string)] = true
			}
			if w.items++; w.items > standard.Items {
				return "items"
			}
			if why := w.value(d, depth); why != "" {
				return why
			}
		}
		d.Token()
	}
	return ""
}

func (w *twin) number(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		n, _ := new(big.Int).SetString(text, 10)
		if n.Sign() < 0 {
			n.Not(n)
		}
		if n.BitLen() > standard.IntBits {
			return "integer"
		}
		return ""
	}
	v, err := strconv.ParseFloat(text, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	if err != nil || v == 0 && strings.Trim(mantissa, "-.0") != "" {
		return "range"
	}
	return ""
}

// loneSurrogate tells whether valid JSON has an escape of half a character.
func loneSurrogate(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		i++
		if b[i] != 'u' {
			continue
		}
		unit, _ := strconv.ParseUint(string(b[i+1:i+5]), 16, 16)
		i += 4
		switch {
		case unit < 0xd800 || unit > 0xdfff:
		case unit >= 0xdc00 || !bytes.HasPrefix(b[i+1:], []byte(`\u`)):
			return true
		default:
			low, err := strconv.ParseUint(string(b[i+3:i+7]), 16, 16)
			if i += 6; err != nil || low < 0xdc00 || low > 0xdfff {
				return true
			}
		}
	}
	return false
}

// FuzzJSON holds the scanner against encoding/json and the rules it does not know, both ways.
func FuzzJSON(f *testing.F) {
	seeds, _ := allSeeds(f)
	for _, b := range seeds {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, err := Value(b, wire.JSON, standard)
		checkEnvelope(t, b, wire.JSON, err)
		if longExponent.Match(b) {
			return
		}
		why := ""
		switch d := json.NewDecoder(bytes.NewReader(b)); {
		case !json.Valid(b):
			why = "syntax"
		case !utf8.Valid(b):
			why = "UTF-8"
		case loneSurrogate(b):
			why = "surrogate"
		default:
			d.UseNumber()
			why = (&twin{}).value(d, 0)
		}
		if (err == nil) != (why == "") {
			t.Fatalf("%q: scanner %v, twin %q", b, err, why)
		}
	})
}

// checkEnvelope wants the same answer of both ways in, and members that together are the message.
func checkEnvelope(t *testing.T, b []byte, enc wire.Encoding, valueErr error) {
	detected, start, detectErr := Detect(b)
	FirstNameIs(b, "event")
	if detectErr != nil || detected != enc {
		return
	}
	body := b[start:]
	members, err := Envelope(body, enc, standard, nil)
	isMap := body[0] == '{' || enc == wire.CBOR && body[0]&0xe0 == wire.MajorMap
	if start == 0 && (err == nil) != (valueErr == nil && isMap) {
		t.Fatalf("%q: value %v, envelope %v", b, valueErr, err)
	}
	if err != nil {
		return
	}
	again := wire.AppendMapOpen(nil, wire.JSON, len(members))
	for i, m := range members {
		again = wire.AppendKey(wire.AppendSep(again, wire.JSON, i), wire.JSON, m.Name)
		again = Append(again, wire.JSON, m.Value, enc)
		if kind, n, err := Value(m.Value, enc, standard); err != nil || kind != m.Kind || n != m.N {
			t.Fatalf("%q: member %q is %s of %d, alone %s of %d, %v", b, m.Name, m.Kind, m.N, kind, n, err)
		}
		c := wire.Cursor{B: m.Value, Enc: enc}
		if kind := c.Kind(); kind != m.Kind {
			t.Fatalf("%q: member %q is %s, to a cursor %s", b, m.Name, m.Kind, kind)
		}
	}
	again = wire.AppendMapClose(again, wire.JSON)
	if whole := Append(nil, wire.JSON, body, enc); !bytes.Equal(again, whole) {
		t.Fatalf("%q: members %s, whole %s", b, again, whole)
	}
	if want := len(members) > 0 && string(members[0].Name) == "event"; FirstNameIs(body, "event") != want {
		t.Fatalf("%q: the first name is event: %t", b, !want)
	}
}

// strict is as near as fxamacker/cbor comes to the rules.
var strict = func() cbor.DecMode {
	m, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, MaxNestedLevels: 1024, MaxArrayElements: 1 << 20, MaxMapPairs: 1 << 20,
		IntDec: cbor.IntDecConvertSignedOrBigInt, BigIntDec: cbor.BigIntDecodePointer,
		MapKeyByteString: cbor.MapKeyByteStringForbidden, DefaultMapType: reflect.TypeFor[map[string]any](),
		UTF8: cbor.UTF8RejectInvalid, NaN: cbor.NaNDecodeForbidden, Inf: cbor.InfDecodeForbidden,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return m
}()

// beyondStrict are the parts of our errors for what fxamacker/cbor takes.
var beyondStrict = []string{"byte string", "a key is null", "a key is a tag", "tag ", "simple value", "undefined", "at most", "duplicate key", "limit",
	"is not UTF-8"}

// FuzzCBOR holds the scanner against fxamacker/cbor: what we admit it decodes, and what it decodes we refuse only by a rule it
// does not know.
func FuzzCBOR(f *testing.F) {
	_, seeds := allSeeds(f)
	for _, b := range seeds {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, err := Value(b, wire.CBOR, standard)
		checkEnvelope(t, b, wire.CBOR, err)
		var v any
		theirs := strict.Unmarshal(b, &v)
		if err == nil {
			if theirs != nil {
				t.Fatalf("%x: admitted, and fxamacker says %v", b, theirs)
			}
			return
		}
		if theirs != nil {
			return
		}
		for _, part := range beyondStrict {
			if strings.Contains(err.(*Error).Text, part) {
				return
			}
		}
		t.Fatalf("%x: fxamacker takes it, and we say %v", b, err)
	})
}

// FuzzTranscode: an admitted value is admitted in the other encoding too, means the same there, and comes to rest after one
// step, by whichever way.
func FuzzTranscode(f *testing.F) {
	js, cs := allSeeds(f)
	for _, b := range js {
		f.Add(b, false)
	}
	for _, b := range cs {
		f.Add(b, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, isCBOR bool) {
		enc, other := wire.JSON, wire.CBOR
		if isCBOR {
			enc, other = other, enc
		}
		if kind, n, err := Value(b, enc, standard); err == nil {
			checkTranscode(t, b, enc, other, standard, kind, n)
		}
	})
}

func checkTranscode(t *testing.T, b []byte, enc, other wire.Encoding, l Limits, kind wire.Kind, n int) {
	there := Append([]byte("before"), other, b, enc)
	if !bytes.HasPrefix(there, []byte("before")) {
		t.Fatalf("%q: what was in dst has changed: %q", b, there)
	}
	there = there[len("before"):]
	if otherKind, otherN, err := Value(there, other, l); err != nil || otherKind != kind || otherN != n {
		t.Fatalf("%q is %s of %d, and in the other encoding %q is %s of %d, %v", b, kind, n, there, otherKind, otherN, err)
	}
	back := Append(nil, enc, there, other)
	if straight := Append(nil, enc, b, enc); !bytes.Equal(back, straight) {
		t.Fatalf("%q: through the other encoding %q, straight %q", b, back, straight)
	}
	if again := Append(nil, enc, back, enc); !bytes.Equal(back, again) {
		t.Fatalf("%q: not at rest: %q, then %q", b, back, again)
	}
	if again := Append(nil, other, back, enc); !bytes.Equal(there, again) {
		t.Fatalf("%q: not at rest: %q, then %q", b, there, again)
	}
	if again := Append(nil, other, there, other); !bytes.Equal(there, again) {
		t.Fatalf("%q: not in our form: %q, then %q", b, there, again)
	}
	if isCBOR := enc == wire.CBOR; !isCBOR && len(there) > 9*len(b)/4+16 || isCBOR && len(there) > 9*len(b)+16 {
		t.Fatalf("%q: %d bytes have become %d", b, len(b), len(there))
	}
	inJSON, inCBOR := b, there
	if enc == wire.CBOR {
		inJSON, inCBOR = there, b
	}
	if !longExponent.Match(inJSON) {
		sameMeaning(t, inJSON, inCBOR)
	}
}

// sameMeaning compares what encoding/json and fxamacker/cbor make of the two.
func sameMeaning(t *testing.T, inJSON, inCBOR []byte) {
	t.Helper()
	var j, c any
	d := json.NewDecoder(bytes.NewReader(inJSON))
	d.UseNumber()
	if err := d.Decode(&j); err != nil {
		t.Fatalf("%q: %v", inJSON, err)
	}
	if err := strict.Unmarshal(inCBOR, &c); err != nil {
		t.Fatalf("%x: %v", inCBOR, err)
	}
	if !equal(j, c) {
		t.Fatalf("%q is %v in JSON, %x is %v in CBOR", inJSON, j, inCBOR, c)
	}
}

func equal(j, c any) bool {
	switch j := j.(type) {
	case []any:
		list, ok := c.([]any)
		if !ok || len(list) != len(j) {
			return false
		}
		for i := range j {
			if !equal(j[i], list[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		m, ok := c.(map[string]any)
		if !ok || len(m) != len(j) {
			return false
		}
		for name := range j {
			if v, ok := m[name]; !ok || !equal(j[name], v) {
				return false
			}
		}
		return true
	case json.Number:
		return equalNumber(string(j), c)
	}
	return j == c
}

func equalNumber(text string, c any) bool {
	if strings.ContainsAny(text, ".eE") || text == "-0" {
		want, err := strconv.ParseFloat(text, 64)
		got, ok := c.(float64)
		return err == nil && ok && math.Float64bits(got) == math.Float64bits(want)
	}
	switch c := c.(type) {
	case int64:
		return text == strconv.FormatInt(c, 10)
	case *big.Int:
		return text == c.String()
	}
	return false
}
