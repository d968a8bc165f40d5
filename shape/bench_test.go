package shape_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape"
)

// listed is a row of a listing, of three texts as most rows are.
type listed struct {
	ID   string `json:"id"`
	At   string `json:"at"`
	Text string `json:"text"`
}

func listing(n int) []listed {
	rows := make([]listed, n)
	for i := range rows {
		rows[i] = listed{
			ID:   fmt.Sprintf("n-%06d", i),
			At:   fmt.Sprintf("2024-05-01T12:%02d:%02dZ", i/60%60, i%60),
			Text: fmt.Sprintf("remember the milk, it is %06d", i),
		}
	}
	return rows
}

// BenchmarkListing is what a typed listing costs both its ends: its reply written, read, and decoded into fresh rows.
func BenchmarkListing(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000, 100_000} { // the cost of a row should not grow
		benchListing(b, n)
	}
}

func benchListing(b *testing.B, n int) {
	rows := shape.RowsOf(listing(n)...)
	limits := shape.Limits{Frame: 32 << 20, Items: 1 << 20}
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		reply := rows.AppendReply(nil, enc, limits, nil)
		message, err := limits.Read(reply, "peer")
		if err != nil || message.Refusal != nil {
			b.Fatal(err, message.Refusal)
		}
		run := func(do string, op func()) {
			b.Run(fmt.Sprintf("do=%s/rows=%d/enc=%s", do, n, enc), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(reply)))
				for b.Loop() {
					op()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
			})
		}
		run("encode", func() { reply = rows.AppendReply(reply[:0], enc, limits, nil) })
		run("read", func() {
			if _, err := limits.Read(reply, "peer"); err != nil {
				b.Fatal(err)
			}
		})
		run("decode", func() {
			if out, err := shape.Decode[listed](message.Rows, nil); err != nil || len(out) != n {
				b.Fatal(len(out), err)
			}
		})
	}
}

// BenchmarkSmall is what the messages of one short call cost both ends together.
func BenchmarkSmall(b *testing.B) {
	type said struct {
		Text string `json:"text"`
	}
	for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
		b.Run("do=echo/enc="+enc.String(), func(b *testing.B) {
			b.ReportAllocs()
			var call, reply []byte
			for b.Loop() {
				var err error
				call, err = shape.Call{Verb: "echo", Args: shape.ListArgs("a line of text")}.Append(call[:0], enc, shape.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				asked, err := shape.Limits{}.Read(call, "peer")
				if err != nil {
					b.Fatal(err)
				}
				var text string
				if err := asked.Call.Args.At(0).Decode(&text); err != nil {
					b.Fatal(err)
				}
				reply = shape.RowsOf(said{text}).AppendReply(reply[:0], enc, shape.Limits{}, nil)
				answered, err := shape.Limits{}.Read(reply, "peer")
				if err != nil {
					b.Fatal(err)
				}
				if rows, err := shape.Decode[said](answered.Rows, nil); err != nil || len(rows) != 1 {
					b.Fatal(rows, err)
				}
			}
		})
	}
}

// BenchmarkText is a text of about 1 MiB, in which nothing needs an escape, a line end now and then, much as in a program, or no letter
// is ASCII.
func BenchmarkText(b *testing.B) {
	limits := shape.Limits{Frame: 8 << 20}
	for _, of := range []struct{ kind, text string }{
		{"plain", "all plain text, of which there is a lot. "},
		{"prose", "a line of a text that somebody wrote, seventy bytes or so before it ends\n"},
		{"program", "\tif err := run(\"once\"); err != nil {\n\t\treturn fmt.Errorf(\"it failed: %w\", err)\n\t}\n"},
		{"beyond-ascii", "Съешь ещё этих мягких французских булок, да выпей чаю. "},
	} {
		text := strings.Repeat(of.text, 1<<20/len(of.text))
		for _, enc := range []shape.Encoding{shape.JSON, shape.CBOR} {
			reply := shape.RowsOf(text).AppendReply(nil, enc, limits, nil)
			msg, err := limits.Read(reply, "peer")
			if err != nil {
				b.Fatal(err)
			}
			for do, once := range map[string]func() error{
				"append": func() error {
					reply = shape.RowsOf(text).AppendReply(reply[:0], enc, limits, nil)
					return nil
				},
				"read": func() error {
					_, err := limits.Read(reply, "peer")
					return err
				},
				"decode": func() error {
					_, err := shape.Decode[string](msg.Rows, nil)
					return err
				},
			} {
				b.Run(fmt.Sprintf("do=%s/of=%s/enc=%v", do, of.kind, enc), func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					b.ReportAllocs()
					for b.Loop() {
						if err := once(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
