package wire

import (
	"strings"
	"testing"
)

// A lead of any length begins what begins so, and nothing that differs from it in one byte.
func TestLeadBegins(t *testing.T) {
	const all = `,"a name of more than sixteen bytes":`
	for n := range len(all) + 1 {
		lead := LeadOf([]byte(all[:n]))
		b := []byte(all[:n] + "12345678")
		if !lead.Begins(b) || lead.Begins(b[:max(n-1, 0)]) {
			t.Errorf("%d bytes: what begins so does not, or what is shorter does", n)
		}
		for i := range n {
			b[i] ^= 0x20
			if lead.Begins(b) {
				t.Errorf("%d bytes: byte %d differs and is not seen", n, i)
			}
			b[i] ^= 0x20
		}
		for room := range 40 {
			if got := lead.Append(append(make([]byte, 0, room+1), '!')); string(got) != "!"+all[:n] {
				t.Errorf("%d bytes, room for %d: %q", n, room, got)
			}
		}
	}
}

// A text of any length behind a lead is what AppendText makes of it, or nothing, wherever a byte stands that is not plain.
func TestLeadTexts(t *testing.T) {
	const plain = "~ !#[]^_az09"
	for _, name := range []string{"a", "a name of more than sixteen bytes"} {
		keyJSON, keyCBOR := AppendKey(nil, JSON, name), AppendKey(nil, CBOR, name)
		inJSON, inCBOR := LeadOf(append(keyJSON, '"')), LeadOf(keyCBOR)
		for n := range 70 {
			text := strings.Repeat(plain, n/len(plain)+1)[:n]
			checkLead(t, &inJSON, JSON, AppendText(keyJSON, JSON, text), text, true)
			checkLead(t, &inCBOR, CBOR, AppendText(keyCBOR, CBOR, text), text, true)
			for i := range n {
				for _, odd := range "\x00\x1f\"\\\u007f\u0080" {
					odd := text[:i] + string(odd) + text[i+1:]
					at := odd[i]
					checkLead(t, &inJSON, JSON, AppendText(keyJSON, JSON, odd), odd, at == 0x7f)
					checkLead(t, &inCBOR, CBOR, AppendText(keyCBOR, CBOR, odd), odd, at < 0x80)
				}
			}
		}
		for _, n := range []int{254, 255, 256, 70_000} {
			text := strings.Repeat("x", n)
			checkLead(t, &inCBOR, CBOR, AppendText(keyCBOR, CBOR, text), text, n < 256)
		}
	}
}

func checkLead(t *testing.T, lead *Lead, enc Encoding, want []byte, text string, taken bool) {
	t.Helper()
	write := lead.AppendJSON
	if enc == CBOR {
		write = lead.AppendCBOR
	}
	for _, room := range []int{0, 200} {
		got, is := write(append(make([]byte, 0, room+1), '!'), text)
		if is != taken || !is && string(got) != "!" || is && string(got) != "!"+string(want) {
			t.Fatalf("%q: %q, %t; want %q, %t", text, got, is, want, taken)
		}
	}
}
