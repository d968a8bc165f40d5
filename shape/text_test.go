package shape_test

import (
	"encoding/hex"
	"testing"

	"github.com/kith-wire/kith/shape"
)

// A text is a part of its message where it stands there as it is; whatever is no text says so.
func TestText(t *testing.T) {
	for _, c := range []struct {
		value string // JSON, or CBOR as hex
		enc   shape.Encoding
		text  string
		is    bool
		alias bool
	}{
		{`"milk"`, shape.JSON, "milk", true, true},
		{`""`, shape.JSON, "", true, true},
		{`"a\u0041\n\ud83d\ude00"`, shape.JSON, "aA\n😀", true, false},
		{`7`, shape.JSON, "", false, false},
		{`null`, shape.JSON, "", false, false},
		{`["milk"]`, shape.JSON, "", false, false},
		{"646d696c6b", shape.CBOR, "milk", true, true},
		{"7f626d69626c6bff", shape.CBOR, "milk", true, false},
		{"07", shape.CBOR, "", false, false},
		{"a0", shape.CBOR, "", false, false},
	} {
		b := []byte(c.value)
		if c.enc == shape.CBOR {
			b, _ = hex.DecodeString(c.value)
		}
		r, err := shape.Limits{}.Value(b, c.enc)
		if err != nil {
			t.Fatalf("%s: %v", c.value, err)
		}
		text, is := r.Text()
		if string(text) != c.text || is != c.is {
			t.Errorf("%s: %q, %v", c.value, text, is)
		}
		if len(text) > 0 {
			text[0]++
			changed, _ := r.Text()
			if (string(changed) == string(text)) != c.alias {
				t.Errorf("%s: a part of the message: %v", c.value, !c.alias)
			}
		}
	}
	words := shape.WordArgs([]string{"milk", "\xff"})
	if text, is := words.At(0).Text(); string(text) != "milk" || !is {
		t.Errorf("a word: %q, %v", text, is)
	}
	if _, is := words.At(1).Text(); is {
		t.Error("a word that is not UTF-8 is a text")
	}
	if _, is := (shape.Raw{}).Text(); is {
		t.Error("no value is a text")
	}
}

// The one row of a reply is found without a look for its end, whatever it is and whatever stands around it.
func TestSoleRow(t *testing.T) {
	for _, c := range []struct {
		reply, row string
		cbor       bool
	}{
		{`{"ok":true,"family":1,"n":1,"result":["milk"]}`, `"milk"`, false},
		{`{"ok":true,"family":1,"n":1,"result": [ "]" ] , "more":[]}`, `"]"`, false},
		{"{\"result\":[\n\t{\"a\": [1, 2]}\r\n],\"n\":1,\"ok\":true,\"family\":1}", `{"a":[1,2]}`, false},
		{`{"ok":true,"family":1,"n":1,"result":[[]]}`, `[]`, false},
		{`{"ok":true,"family":1,"n":1,"result":[-1.5e3]}`, `-1500.0`, false},
		{`{"ok":true,"family":1,"n":0,"result":["milk"]}`, ``, false},
		{`{"ok":true,"family":1,"n":1,"result":["milk","bread"]}`, `"milk"`, false},
		{"a4626f6bf56666616d696c7901616e0166726573756c7481646d696c6b", `"milk"`, true},             // a list of one
		{"a4626f6bf56666616d696c7901616e0166726573756c749f646d696c6bff", `"milk"`, true},           // a list with an end
		{"bf626f6bf56666616d696c7901616e0166726573756c749f9f0102ffffff", `[1,2]`, true},            // one in another
		{"a566726573756c7481a1616107626f6bf56666616d696c7901616e016178f6", `{"a":7}`, true},        // result comes first
		{"a4626f6bf56666616d696c7901616e0166726573756c749f7f626d69626c6bffff", `"milk"`, true},     // a text in chunks
		{"a4626f6bf56666616d696c7901616e0166726573756c7482646d696c6b656272656164", `"milk"`, true}, // two, and n says one
	} {
		b := []byte(c.reply)
		if c.cbor {
			b, _ = hex.DecodeString(c.reply)
		}
		m, err := shape.Limits{}.Read(b, "")
		if err != nil || m.Refusal != nil {
			t.Errorf("%s: %v, %v", c.reply, err, m.Refusal)
			continue
		}
		got := ""
		if row := m.Rows.Raw(0); !row.IsZero() {
			got = string(row.Append(nil, shape.JSON))
		}
		if got != c.row {
			t.Errorf("%s: the row is %s, and %s is right", c.reply, got, c.row)
		}
	}
}
