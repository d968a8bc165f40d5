package plan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"

	"github.com/kith-wire/kith/internal/buffers"
	"github.com/kith-wire/kith/shape/internal/wire"
)

// decoder is one value being read. Strings are cut from few copies of the bytes, so that a list of rows does not cost an
// allocation for each text in it.
type decoder struct {
	wire.Cursor
	all    []byte // the value
	window string // a copy of a part of it, from which texts are cut
	from   int    // where in all the window begins
	escape escaped
	texts  strings.Builder // texts that do not stand there as they are; never grown once something was cut from it
	put    []byte          // where such a text is put together
}

// decoders are kept, because a plan's functions make one escape.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

const (
	chunk   = 16 << 10 // bytes one kept string can hold on to
	ownText = chunk / 16
)

// escaped tells whether a backslash stands anywhere in the value.
type escaped uint8

const (
	notLooked escaped = iota
	noEscape
	someEscape
)

// textEnd is wire.TextEnd. Most values have no escape in them, and then only the quote is looked for.
func (d *decoder) textEnd(i int) int {
	b := d.all
	if d.escape != noEscape {
		return d.anyTextEnd(i)
	}
	for ; i+8 <= len(b); i += 8 {
		if hit := wire.Quotes(binary.LittleEndian.Uint64(b[i:])); hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
	}
	return wire.TextEnd(b, i)
}

func (d *decoder) anyTextEnd(i int) int {
	if d.escape == notLooked {
		d.escape = noEscape
		if bytes.IndexByte(d.all, '\\') >= 0 {
			d.escape = someEscape
		}
	}
	return wire.TextEnd(d.all, i)
}

func (d *decoder) start(b []byte, enc wire.Encoding) {
	d.B, d.Enc, d.all = b, enc, b
}

func (d *decoder) release() {
	d.Cursor, d.all, d.window, d.from, d.escape = wire.Cursor{}, nil, "", 0, notLooked
	d.texts.Reset()
	if cap(d.put) >= buffers.Least {
		buffers.Put(d.put)
		d.put = nil
	}
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
	text, alias := d.Text(d.put[:0])
	if !alias {
		d.put = text
		return d.string(text)
	}
	return d.plain(text)
}

// plain returns the text that the cursor has just moved past, and that is a part of the value, as a string.
func (d *decoder) plain(text []byte) string {
	to := len(d.all) - len(d.B)
	if d.Enc == wire.JSON {
		to-- // the quote behind it
	}
	return d.cut(to-len(text), to)
}

// cut returns a part of the value as a string.
func (d *decoder) cut(from, to int) string {
	if at := from - d.from; at >= 0 && to-d.from <= len(d.window) {
		return d.window[at : to-d.from]
	}
	return d.cutAnew(from, to)
}

func (d *decoder) cutAnew(from, to int) string {
	if to-from > ownText {
		return string(d.all[from:to])
	}
	d.from = from
	d.window = string(d.all[from:min(from+chunk, len(d.all))])
	return d.window[:to-from]
}

// key reads the name of a member.
func (d *decoder) key() string {
	var buf [64]byte
	name, _ := d.Key(buf[:0])
	return d.string(name)
}
