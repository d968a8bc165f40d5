package vectors_test

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/kith-wire/kith/shape"
)

// TestSpecExamples reads every example of SPEC.md: what it shows is taken, and written again the same.
func TestSpecExamples(t *testing.T) {
	b, err := os.ReadFile("../SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, block := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllSubmatch(b, -1) {
		for line := range strings.Lines(string(block[2])) {
			count[string(block[1])]++
			example(t, string(block[1]), strings.TrimSpace(line))
		}
	}
	rows := regexp.MustCompile("(?m)^\\| (`.*`) \\| (`[0-9a-f].*`) \\|$").FindAllSubmatch(b, -1)
	for _, row := range rows {
		texts, bytes := quoted(row[1]), quoted(row[2])
		if len(texts) != len(bytes) {
			t.Errorf("%s", row[0])
			continue
		}
		for i := range texts {
			sameValue(t, texts[i], unhex(t, bytes[i]))
		}
	}
	if count["json"] < 5 || count["cbor"] < 4 || count["frame"] < 3 || len(rows) < 8 {
		t.Errorf("there are too few examples: %v, and %d rows of values", count, len(rows))
	}
}

// TestDaemonExamples reads every example of DAEMON.md.
func TestDaemonExamples(t *testing.T) {
	b, err := os.ReadFile("../DAEMON.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, block := range regexp.MustCompile("(?ms)^```(json|frame)\n(.*?)^```$").FindAllSubmatch(b, -1) {
		for line := range strings.Lines(string(block[2])) {
			body := []byte(strings.TrimSpace(line))
			if string(block[1]) == "frame" {
				b := unhex(t, string(body))
				if body = b[4:]; binary.LittleEndian.Uint32(b) != uint32(len(body)) {
					t.Errorf("%s: its length is %d", line, len(body))
				}
			}
			v, err := shape.Limits{}.Value(body, shape.JSON)
			if again := v.Append(nil, shape.JSON); err != nil || string(again) != string(body) {
				t.Errorf("%s is written as %s, %v", line, again, err)
			}
			count++
		}
	}
	if count < 5 {
		t.Errorf("there are %d examples", count)
	}
}

func quoted(cell []byte) []string {
	return strings.Split(strings.Trim(string(cell), "`"), "` `")
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b
}

// example reads one line of a block.
func example(t *testing.T, kind, line string) {
	t.Helper()
	body := []byte(line)
	switch kind {
	case "cbor":
		body = unhex(t, line)
	case "frame":
		b := unhex(t, line)
		if body = b[4:]; binary.BigEndian.Uint32(b) != uint32(len(body)) {
			t.Errorf("%s: its length is %d", line, len(body))
		}
	}
	if _, err := (shape.Limits{}).Read(body, "the peer"); err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	v, err := shape.Limits{}.Value(body)
	if err != nil {
		t.Fatal(err)
	}
	if again := v.Append(nil, v.Encoding()); string(again) != string(body) {
		t.Errorf("%s is written as %x", line, again)
	}
}

func sameValue(t *testing.T, text string, b []byte) {
	t.Helper()
	j, err := shape.Limits{}.Value([]byte(text), shape.JSON)
	if err != nil {
		t.Fatal(err)
	}
	c, err := shape.Limits{}.Value(b, shape.CBOR)
	if err != nil {
		t.Fatal(err)
	}
	if string(j.Append(nil, shape.CBOR)) != string(b) || string(c.Append(nil, shape.JSON)) != text {
		t.Errorf("%s is not %x", text, b)
	}
}
