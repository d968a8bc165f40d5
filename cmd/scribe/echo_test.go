package main

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/kith-wire/kith/cmd/internal/built"
)

func itoa(n int) string { return strconv.Itoa(n) }

// lossless are values that other programs have changed on their way: JSON and CBOR of the same one, both by hand (ENC-3, ENC-4).
var lossless = []struct{ json, cbor string }{
	{`9007199254740993`, "1b0020000000000001"},     // 2^53+1
	{`18446744073709551615`, "1bffffffffffffffff"}, // 2^64-1
	{`18446744073709551616`, "c249010000000000000000"},
	{`-18446744073709551616`, "3bffffffffffffffff"},
	{`9223372036854775808`, "1b8000000000000000"},
	{`-0.0`, "f98000"},
	{`1.0`, "f93c00"},
	{`1`, "01"},
	{`0.1`, "fb3fb999999999999a"},
	{"\"\u2028<>&\"", "66e280a83c3e26"},
	{`null`, "f6"},
	{`{"a":[true,{"b":"\n"}]}`, "a1 6161 82 f5 a1 6162 610a"},
	{strings.Repeat("9", 300), ""}, // by its way there and back
	{"-" + strings.Repeat("7", 300), ""},
}

// TestLossless echoes them through every door and both encodings.
func TestLossless(t *testing.T) {
	e := built.NewEnv(t)
	_, at := e.Serve(t)
	conn := knock(t, at)
	for _, v := range lossless {
		list := `{"ok":true,"family":1,"n":1,"result":[` + v.json + `]}`
		same(t, "cli "+v.json, e.OK(t, "", "scribe", "echo", "--", v.json), list+"\n")
		same(t, "pipe "+v.json, e.OK(t, `{"call":"echo","args":[`+v.json+`]}`, "scribe", "pipe"), list+"\n")
		io.WriteString(conn, framed(`{"call":"echo","args":[`+v.json+`]}`))
		same(t, "socket "+v.json, unframe(t, conn), list)

		asCBOR := e.OK(t, "", "scribe", "echo", "--cbor", "--", v.json)
		same(t, "there and back "+v.json, e.OK(t, asCBOR, "kith", "convert"), list+"\n")
		if v.cbor == "" {
			continue
		}
		head := unhex(t, "a4 626f6b f5 6666616d696c79 01 616e 01 66726573756c74 81")
		same(t, "JSON in, CBOR out: "+v.json, asCBOR, head+unhex(t, v.cbor))
		same(t, "CBOR in, JSON out: "+v.json, e.OK(t, "\x81"+unhex(t, v.cbor), "scribe", "echo", "--args", "-"), list+"\n")
		io.WriteString(conn, framed(unhex(t, "a2 6463616c6c 646563686f 6461726773 81"+v.cbor)))
		same(t, "CBOR at the socket: "+v.json, unframe(t, conn), head+unhex(t, v.cbor))
	}
}

// TestStoredText keeps a text that came in one encoding, and answers with it in the other.
func TestStoredText(t *testing.T) {
	e := built.NewEnv(t)
	const text = "two\nlines\r\n\u2028 <>& \"quoted\" \\ \x7f é 𝄞 \x00"
	_, at := e.Serve(t)
	conn := knock(t, at)
	args := "\x82\x78" + string(rune(len(text))) + text + "\x60" // the text, and an empty tag
	io.WriteString(conn, framed(unhex(t, "a2 6463616c6c 646e6f7465 6461726773")+args))
	unframe(t, conn)
	io.WriteString(conn, framed(`{"call":"get","args":[1]}`))
	same(t, "in JSON", one(t, unframe(t, conn)).Text, text)
	if got := e.OK(t, "", "scribe", "get", "1", "--cbor"); !strings.Contains(got, "\x78"+string(rune(len(text)))+text) {
		t.Errorf("in CBOR: %q", got)
	}
	if n := strings.Count(e.Sh(t, "cat state/scribe/book.jsonl"), "\n"); n != 1 {
		t.Errorf("the book has %d lines", n)
	}
}
