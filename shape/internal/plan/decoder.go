package plan

import (
	"strings"
	"sync"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// decoder is one value being read. Strings are cut from few copies of the bytes, so that a list of rows does not cost an
// allocation for each text in it.
type decoder struct {
	wire.Cursor
	texts strings.Builder // never grown once something was cut from it
}

// decoders are kept, because a plan's functions make one escape.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

const (
	chunk   = 16 << 10 // bytes one kept string can hold on to
	ownText = chunk / 16
)

func (d *decoder) release() {
	d.Cursor = wire.Cursor{}
	d.texts.Reset()
	decoders.Put(d)
}

// string returns a text as a string that shares nothing with the message.
func (d *decoder) string(text []byte) string {
	if len(text) > ownText {
		return string(text)
	}
	if d.texts.Cap()-d.texts.Len() < len(text) {
		d.texts.Reset()
		d.texts.Grow(min(chunk, len(text)+len(d.B)))
	}
	from := d.texts.Len()
	d.texts.Write(text)
	return d.texts.String()[from:]
}

// text reads a text.
func (d *decoder) text() string {
	var buf [64]byte
	text, _ := d.Text(buf[:0])
	return d.string(text)
}

// key reads the name of a member.
func (d *decoder) key() string {
	var buf [64]byte
	name, _ := d.Key(buf[:0])
	return d.string(name)
}
