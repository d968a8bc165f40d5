package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

var localMeasures = []measure{
	{
		name: "scan", title: "1 MiB of JSON or CBOR (9,500 rows) admitted, every byte checked, on one core; " +
			"pass: utf8.Valid and a look at each byte",
		columns: []string{"ns per byte"}, base: "pass",
		takes: func(c contender) bool { return c.local["scan"] != nil }, run: runLocal,
		derive: &derived{"GB/s", func(v []float64) float64 { return 1 / v[0] }},
		goals:  []goal{{who: "kith-json", than: "pass", atMost: 2, orValue: 1}, {who: "kith-cbor", than: "pass", atMost: 2, orValue: 1}},
	},
}

func init() {
	register(contender{name: "pass", title: "utf8.Valid and one pass", tag: "std", only: []string{"scan"},
		local: map[string]func() (func() error, int){"scan": scanPass}})
	register(contender{name: "json-valid", title: "encoding/json.Valid", tag: "std", only: []string{"scan"},
		local: map[string]func() (func() error, int){"scan": scanValid}})
}

func runLocal(s slice) ([]float64, error) {
	op, size := s.local[s.measure]()
	mean, _, err := timed(s.time, op)
	return []float64{mean * 1e3 / float64(size)}, err
}

// scanNote is a row of what is scanned.
type scanNote struct {
	ID   int64    `json:"id"`
	At   string   `json:"at"`
	Text string   `json:"text"`
	Tags []string `json:"tags"`
}

// scanNotes are about 1 MiB of rows in JSON, and somewhat less in CBOR.
func scanNotes() []scanNote {
	notes := make([]scanNote, 9500)
	for i := range notes {
		notes[i] = scanNote{
			ID: int64(i), At: fmt.Sprintf("2024-05-01T12:00:%02dZ", i%60),
			Text: fmt.Sprintf("remember the milk, and the %d other things", i), Tags: []string{"a", "b"},
		}
	}
	return notes
}

func scanMessage() []byte {
	b, err := json.Marshal(scanNotes())
	if err != nil {
		panic(err)
	}
	return b
}

var (
	errNotValid = errors.New("the message is not valid")
	passClass   [256]byte // which bytes end a run of text
)

func scanPass() (func() error, int) {
	message := scanMessage()
	passClass['"'], passClass['\\'] = 1, 1
	for i := range ' ' {
		passClass[i] = 1
	}
	return func() error {
		if !utf8.Valid(message) {
			return errNotValid
		}
		ends := 0
		for _, b := range message {
			ends += int(passClass[b])
		}
		if ends == 0 {
			return errNotValid
		}
		return nil
	}, len(message)
}

func scanValid() (func() error, int) {
	message := scanMessage()
	return func() error {
		if !json.Valid(message) {
			return errNotValid
		}
		return nil
	}, len(message)
}
