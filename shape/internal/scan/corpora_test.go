package scan

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// corpora returns a folder of the corpora that others made.
func corpora(t *testing.T, folder string) string {
	t.Helper()
	dir := filepath.Join(os.Getenv("KITH_CORPORA"), folder)
	if _, err := os.Stat(dir); os.Getenv("KITH_CORPORA") == "" || err != nil {
		if os.Getenv("KITH_REQUIRE") != "" {
			t.Fatalf("KITH_CORPORA must name the folder of the corpora, with %s in it", folder)
		}
		t.Skipf("KITH_CORPORA names no folder with %s in it", folder)
	}
	return dir
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestJSONTestSuite(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpora(t, "JSONTestSuite"), "test_parsing", "*.json"))
	count := map[string]int{} // y, n, i: of each how many there are, and in capitals how many are admitted
	var odd []string
	for _, path := range files {
		name, b := filepath.Base(path), read(t, path)
		class := name[:1]
		count[class]++
		_, _, err := Value(b, wire.JSON, standard)
		if err == nil {
			count[strings.ToUpper(class)]++
			checkAdmitted(t, name, b)
		}
		if class == "y" && err != nil || class == "n" && err == nil || class == "i" && err == nil {
			odd = append(odd, name)
		}
	}
	want := map[string]int{"y": 95, "n": 188, "i": 35, "Y": 93, "I": 3}
	for class, n := range want {
		if count[class] != n {
			t.Errorf("%s: %d, want %d", class, count[class], n)
		}
	}
	slices.Sort(odd)
	if want := []string{
		"i_number_too_big_neg_int.json", "i_number_too_big_pos_int.json", "i_number_very_big_negative_int.json", // within 1024 bits
		"y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json", // ENC-4
	}; !slices.Equal(odd, want) {
		t.Errorf("answers of our own: %q, want %q", odd, want)
	}
}

// checkAdmitted wants an admitted JSON value to be the same to encoding/json and, in CBOR, to fxamacker/cbor.
func checkAdmitted(t *testing.T, name string, b []byte) {
	t.Helper()
	if !json.Valid(b) {
		t.Errorf("%s: encoding/json does not take it", name)
		return
	}
	kind, n, _ := Value(b, wire.JSON, standard)
	checkTranscode(t, b, wire.JSON, wire.CBOR, standard, kind, n)
}

// What test_transform shows that others change, we either refuse or keep.
func TestJSONTransform(t *testing.T) {
	dir := filepath.Join(corpora(t, "JSONTestSuite"), "test_transform")
	want := map[string]string{ // "" is refused
		"number_-9223372036854775808.json": `[-9223372036854775808]`, "number_-9223372036854775809.json": `[-9223372036854775809]`,
		"number_1.0.json": `[1.0]`, "number_1.000000000000000005.json": `[1.0]`, "number_1000000000000000.json": `[1000000000000000]`,
		"number_10000000000000000999.json": `[10000000000000000999]`, "number_1e-999.json": "", "number_1e6.json": `[1000000.0]`,
		"number_9223372036854775807.json": `[9223372036854775807]`, "number_9223372036854775808.json": `[9223372036854775808]`,
		"object_key_nfc_nfd.json": "{\"é\":\"NFC\",\"e\u0301\":\"NFD\"}", "object_key_nfd_nfc.json": "{\"e\u0301\":\"NFD\",\"é\":\"NFC\"}",
		"object_same_key_different_values.json": "", "object_same_key_same_value.json": "", "object_same_key_unclear_values.json": "",
		"string_1_escaped_invalid_codepoint.json": "", "string_1_invalid_codepoint.json": "", "string_2_escaped_invalid_codepoints.json": "",
		"string_2_invalid_codepoints.json": "", "string_3_escaped_invalid_codepoints.json": "", "string_3_invalid_codepoints.json": "",
		"string_with_escaped_NULL.json": `["A\u0000B"]`,
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) != len(want) {
		t.Errorf("%d files, want %d", len(files), len(want))
	}
	for _, path := range files {
		name, b := filepath.Base(path), read(t, path)
		got := ""
		if admitted(b, wire.JSON) {
			got = string(Append(nil, wire.JSON, b, wire.JSON))
			checkAdmitted(t, name, b)
		}
		if expected, ok := want[name]; !ok || got != expected {
			t.Errorf("%s: %s, want %s", name, got, expected)
		}
	}
}

// vectorFile is one file of the CBOR vectors.
type vectorFile struct {
	Fail  bool     `cbor:"fail"`
	Tests []vector `cbor:"tests"`
}

// vectorFiles decodes them; some vectors are nested deep.
var vectorFiles = func() cbor.DecMode {
	m, err := cbor.DecOptions{MaxNestedLevels: 1000}.DecMode()
	if err != nil {
		panic(err)
	}
	return m
}()

type vector struct {
	Description string          `cbor:"description"`
	Encoded     []byte          `cbor:"encoded"`
	Decoded     cbor.RawMessage `cbor:"decoded"`
	Fail        bool            `cbor:"fail"`
}

func TestCBORVectors(t *testing.T) {
	dir := filepath.Join(corpora(t, "cbor-test-vectors"), "tests")
	for _, set := range []struct {
		name, files     string
		depth           int
		total, admitted int
		why             map[string]int // how many are refused for what
	}{
		{"bad", "rfc8949/bad.cbor", 64, 47, 0, nil},
		// One good vector is a list 500 deep: ENC-5 refuses it, and an option takes it.
		{"good", "rfc8949/good.cbor", 64, 88, 80, map[string]int{"key": 4, "tag": 3, "open maps and lists": 1}},
		{"good, deep", "rfc8949/good.cbor", 600, 88, 81, map[string]int{"key": 4, "tag": 3}},
		{"appendix A", "rfc8949-appendixA/*.cbor", 64, 81, 59,
			map[string]int{"NaN": 9, "tag": 6, "byte string": 3, "simple": 2, "undefined": 1, "key": 1}},
		{"spike", "spike/spike.cbor", 64, 1165, 1026, map[string]int{"NaN": 33, "byte string": 96, "simple": 10}},
	} {
		t.Run(set.name, func(t *testing.T) {
			l := standard
			l.Depth = set.depth
			total, admitted, why := 0, 0, map[string]int{}
			files, _ := filepath.Glob(filepath.Join(dir, set.files))
			for _, path := range files {
				var f vectorFile
				if err := vectorFiles.Unmarshal(read(t, path), &f); err != nil {
					t.Fatal(err)
				}
				for _, v := range f.Tests {
					total++
					_, _, err := Value(v.Encoded, wire.CBOR, l)
					if err != nil {
						why[reason(err)]++
						continue
					}
					if admitted++; f.Fail || v.Fail {
						t.Errorf("%s: %x is admitted", v.Description, v.Encoded)
					}
					checkVector(t, v, l)
				}
			}
			if total != set.total || admitted != set.admitted {
				t.Errorf("%d of %d admitted, want %d of %d", admitted, total, set.admitted, set.total)
			}
			for class, n := range set.why {
				if why[class] != n {
					t.Errorf("refused for %s: %d, want %d", class, why[class], n)
				}
			}
			if set.why != nil && len(why) != len(set.why) {
				t.Errorf("refused for %v, want %v", why, set.why)
			}
		})
	}
}

// reason is the class of a refusal.
func reason(err error) string {
	for _, class := range []string{"key", "tag", "NaN", "byte string", "simple", "undefined", "open maps and lists"} {
		if strings.Contains(err.(*Error).Text, class) {
			return class
		}
	}
	return err.Error()
}

// checkVector wants an admitted vector to mean what the corpus says it does.
func checkVector(t *testing.T, v vector, l Limits) {
	t.Helper()
	kind, n, _ := Value(v.Encoded, wire.CBOR, l)
	checkTranscode(t, v.Encoded, wire.CBOR, wire.JSON, l, kind, n)
	if _, _, err := Value(v.Decoded, wire.CBOR, l); err != nil {
		t.Errorf("%s: %x is admitted, and what it decodes to, %x, is not", v.Description, v.Encoded, v.Decoded)
		return
	}
	ours, theirs := Append(nil, wire.CBOR, v.Encoded, wire.CBOR), Append(nil, wire.CBOR, v.Decoded, wire.CBOR)
	if !bytes.Equal(ours, theirs) {
		t.Errorf("%s: %x is %x, the corpus has %x", v.Description, v.Encoded, ours, theirs)
	}
}
