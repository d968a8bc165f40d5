package conformance

import (
	"bytes"
	"strings"

	"github.com/kith-wire/kith/conformance/internal/value"
)

// reply is one reply as far as it could be read.
type reply struct {
	raw []byte
	enc value.Encoding
	doc value.Doc
	err error
}

func readReply(b []byte) reply {
	enc, start := value.Detect(b)
	r := reply{raw: b, enc: enc}
	if enc == value.CBOR {
		b = b[start:]
	}
	r.doc, r.err = value.Read(b, enc, value.Default)
	return r
}

// printed reads the reply in what the cli printed. Whatever stands around it is for one check to find, and not for all.
func printed(stdout []byte) reply {
	enc, _ := value.Detect(stdout)
	if enc == value.CBOR {
		if r := readReply(bytes.TrimSuffix(stdout, []byte("\n"))); r.err == nil {
			return r
		}
		return readReply(stdout)
	}
	lines := bytes.Split(bytes.TrimRight(stdout, "\r\n"), []byte("\n"))
	for _, line := range lines {
		if bytes.HasPrefix(line, []byte(`{"ok"`)) {
			return readReply(line)
		}
	}
	return readReply(bytes.TrimSpace(stdout))
}

func (r reply) get(name string) (value.Value, bool) { return r.doc.Value.Get(name) }

// text is a member that is text, or nothing.
func (r reply) text(name string) string {
	v, _ := r.get(name)
	return v.Text
}

// is reports what the reply says of itself.
func (r reply) is(ok bool) bool {
	v, _ := r.get("ok")
	return r.err == nil && v.Kind == value.Bool && v.Bool == ok
}

// refused reports whether it is a refusal with that fault; none reads as refused (FAULT-1).
func (r reply) refused(fault string) bool {
	got, said := r.get("fault")
	return r.is(false) && (got.Text == fault || !said && fault == "refused")
}

// rows are the rows, and those of a listing sent as one row: that is one check's to find.
func (r reply) rows() []value.Value {
	result, _ := r.get("result")
	if len(result.List) == 1 && result.List[0].Kind == value.List {
		return result.List[0].List
	}
	return result.List
}

func (r reply) String() string {
	if r.err != nil {
		return "a reply that cannot be read (" + r.err.Error() + "): " + show(r.raw)
	}
	return show(r.raw)
}

// names reports whether a text names something by any of the words, case ignored.
func names(s string, any ...string) bool {
	for _, w := range any {
		if strings.Contains(strings.ToLower(s), strings.ToLower(w)) {
			return true
		}
	}
	return false
}
