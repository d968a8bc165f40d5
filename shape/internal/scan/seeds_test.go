package scan

import (
	"strings"
	"testing"
)

// seedsJSON and seedsCBOR (in hex) are where the fuzz targets begin, beside every fault and every admitted value of the
// tables.
var seedsJSON = []string{
	`{"call":"note","args":["text",["a","b"]],"from":"me","token":"t"}`,
	`{"ok":true,"family":1,"n":2,"result":[{"id":1,"at":"2024-01-01T00:00:00Z"},{"id":2,"at":""}]}`,
	`{"ok":false,"family":1,"n":0,"result":[],"error":"no such call: x","fault":"refused"}`,
	` { "event" : "noted" , "x" : [ -0 , 0.0 , 1.50 , 1e2 , 1E-7 , 9007199254740993 , 18446744073709551615 , -9223372036854775809 ] } `,
	`["\u0041\u00e9\u20ac\ud83d\ude00\/\b\f\n\r\t\u001f\u2028<>&","é😀"]`,
	`[[],[[]],{},{"a":{}},[[[[[[[[1]]]]]]]]`,
	`[[],[[]],{},{"a":{}},[[[[[[[[1]]]]]]]]]`,
	`[1.7976931348623157e308,5e-324,2.2250738585072014e-308,123456789012345678901234567890,0.1,1e21,1e-7]`,
	`{"a":1,"\u0061":2}`, `{"":0,"\u0000":1}`, `"\ud800"`, `1e400`, `1e-999`, `-`, `[1,]`, "\"\xff\"", `0e-999999999`,
	`{"k00":0,"k01":0,"k02":0,"k03":0,"k04":0,"k05":0,"k06":0,"k07":0,"k08":0,"k09":0,"k10":0,"k11":0,"k12":0,"k13":0,` +
		`"k14":0,"k15":0,"k16":0,"k17":0,"k18":0,"k1\u0039":0}`,
	`[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23]]`,
}

var seedsCBOR = []string{
	"a2 6463616c6c 646e6f7465 6461726773 82 6474657874 82 6161 6162",
	"a4 626f6b f5 6666616d696c79 01 616e 01 66726573756c74 81 a1 626964 01",
	"bf 656576656e74 656e6f746564 6178 9f f98000 fa7f7fffff fb7fefffffffffffff 1bffffffffffffffff 3bffffffffffffffff ff ff",
	"82 c249010000000000000000 c349010000000000000000",
	"84 c24105 c240 c25f4101420203ff d8035801ff",
	"7f 62c3a9 60 64f09f9880 ff",
	"b90002 780161 1b0000000000000001 7a0000000162 9b0000000000000000",
	"98 18 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17",
	"9f 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 9f 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 ff ff",
	"a2 6161 01 6161 02", "61 ff", "f97e00", "41 00", "a1 01 02", "f7", "f820", "c1 00", "d9d9f7 a0", "9bffffffffffffffff", "5f 41 00 ff",
	"fa3dcccccd", "f90001", "fb0000000000000001", "bf 7f 6161 6162 ff 9f ff ff",
}

// allSeeds returns everything the tables and lists hold, admitted or not.
func allSeeds(t testing.TB) (json, cbor [][]byte) {
	for _, s := range seedsJSON {
		json = append(json, []byte(s))
	}
	for _, f := range faultsJSON {
		json = append(json, []byte(f.bytes))
	}
	for _, v := range admittedJSON {
		json = append(json, []byte(v.text))
	}
	for _, s := range seedsCBOR {
		cbor = append(cbor, fromHex(t, s))
	}
	for _, f := range faultsCBOR {
		cbor = append(cbor, fromHex(t, f.bytes))
	}
	for _, v := range admittedCBOR {
		cbor = append(cbor, fromHex(t, v.hex))
	}
	small := func(all [][]byte) (kept [][]byte) { // a fuzzer makes nothing of a megabyte
		for _, b := range all {
			if len(b) <= 4<<10 {
				kept = append(kept, b)
			}
		}
		return kept
	}
	return small(json), small(cbor)
}

// The seeds are there: a list that somebody emptied would make the fuzz targets test nothing.
func TestSeedsAreThere(t *testing.T) {
	json, cbor := allSeeds(t)
	for what, counts := range map[string][2]int{
		"seedsJSON": {len(seedsJSON), 15}, "faultsJSON": {len(faultsJSON), 60}, "admittedJSON": {len(admittedJSON), 20},
		"seedsCBOR": {len(seedsCBOR), 20}, "faultsCBOR": {len(faultsCBOR), 75}, "admittedCBOR": {len(admittedCBOR), 20},
		"all JSON": {len(json), 95}, "all CBOR": {len(cbor), 115},
	} {
		if counts[0] < counts[1] {
			t.Errorf("%s: %d, and there were at least %d", what, counts[0], counts[1])
		}
	}
	good := map[bool]int{}
	for _, b := range json {
		good[admitted(b, 0)]++
	}
	for _, b := range cbor {
		good[admitted(b, 1)]++
	}
	if good[true] < 45 || good[false] < 150 {
		t.Errorf("%d seeds are admitted and %d refused", good[true], good[false])
	}
	if strings.TrimSpace(seedsJSON[0]) == "" {
		t.Error("an empty seed")
	}
}
