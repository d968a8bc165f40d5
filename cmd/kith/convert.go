package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kith-wire/kith/shape"
)

func (t *tool) convertCommand() command {
	var from []shape.Encoding
	limits := shape.Limits{}.Defaults()
	return command{
		name:  "convert",
		about: "translate one value on stdin, JSON to CBOR or CBOR to JSON, without loss",
		more: `
The first byte tells the encoding of a map, of a list and of most else. It cannot tell a lone CBOR number or text: say
--from cbor there. JSON is written compact, with a newline; CBOR with nothing behind it. What is not exactly one value,
or holds what the other encoding cannot, is an error on stderr with its offset in bytes, and exit 6.`,
		flags: []flag{
			{name: "from", value: "json|cbor", about: "what stdin is, where its first byte cannot tell", set: func(s string) error {
				switch s {
				case "json":
					from = []shape.Encoding{shape.JSON}
				case "cbor":
					from = []shape.Encoding{shape.CBOR}
				default:
					return fmt.Errorf("%q is neither json nor cbor", shape.Quote(s))
				}
				return nil
			}},
			bytesFlag(&limits.Frame, "cap", "the most that is read; default 16 MiB"),
		},
		run: func(context.Context, []string) int { return t.convert(limits, from) },
	}
}

func (t *tool) convert(l shape.Limits, from []shape.Encoding) int {
	b, err := readAll(t.in, l.Frame)
	if err != nil {
		return t.fail(exitMalformed, "convert: stdin: %v", err)
	}
	value, err := l.Value(b, from...)
	if err != nil {
		return t.fail(exitMalformed, "convert: %v", err)
	}
	if value.Encoding() == shape.CBOR {
		return t.print(append(value.Append(nil, shape.JSON), '\n'))
	}
	return t.print(value.Append(nil, shape.CBOR))
}

// readAll reads all of r, which must not be more than limit bytes.
func readAll(r io.Reader, limit int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(b) > limit {
		err = errors.New("it is over the cap of " + fmt.Sprint(limit) + " bytes")
	}
	return b, err
}
