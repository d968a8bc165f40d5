package scan

import (
	"bytes"
	"math"
	"math/big"
	"sync/atomic"

	"github.com/kith-wire/kith/shape/internal/wire"
)

// number moves past the JSON number at a place.
func (s *scanner) number(i int) (end int, kind wire.Kind) {
	b, begin := s.b, i
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	i = digits(b, i)
	switch {
	case i == first && first == begin:
		return s.noValue(i), wire.None
	case i == first:
		return s.fail(i, "%s after '-', where a digit must come", s.at(i)), wire.None
	case i > first+1 && b[first] == '0':
		return s.fail(first, "a number begins with 0 and more digits follow"), wire.None
	}
	if i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e') {
		return s.float(begin, i)
	}
	if begin != first && i == first+1 && b[first] == '0' {
		return i, wire.Float // -0 is -0.0 (ENC-4)
	}
	if i-first > surelyFit(s.limit.IntBits) && !fits(b[first:i], begin != first, s.limit.IntBits) {
		return s.fail(begin, "an integer of %d digits; at most %d bits are taken", i-first, s.limit.IntBits), wire.None
	}
	return i, wire.Int
}

// digits moves past digits.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' < 10 {
		i++
	}
	return i
}

// float moves past the fraction and exponent, at i, of the number that begins at a place, and refuses it where it is not a
// finite binary64 or becomes zero without being zero (ENC-4).
func (s *scanner) float(begin, i int) (end int, kind wire.Kind) {
	b := s.b
	if b[i] == '.' {
		if i = digits(b, i+1); b[i-1] == '.' {
			return s.fail(i, "%s after '.', where a digit must come", s.at(i)), wire.None
		}
	}
	mantissa, exponent := i, 0
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		first := i
		if i = digits(b, i); i == first {
			return s.fail(i, "%s in an exponent, where a digit must come", s.at(i)), wire.None
		}
		exponent = i - first
	}
	// With at most 200 digits and an exponent below 100 nothing can go out of range.
	if mantissa-begin > 200 || exponent > 2 {
		return s.inRange(begin, mantissa, i)
	}
	return i, wire.Float
}

func (s *scanner) inRange(begin, mantissa, end int) (int, wire.Kind) {
	text := s.b[begin:end]
	switch v := wire.ParseFloat(text); {
	case math.IsInf(v, 0):
		return s.fail(begin, "%s is beyond a binary64, the largest number taken", wire.Quote(text)), wire.None
	case v == 0 && bytes.ContainsAny(s.b[begin:mantissa], "123456789"):
		return s.fail(begin, "%s is not 0 and would become 0 as a binary64", wire.Quote(text)), wire.None
	}
	return end, wire.Float
}

// surelyFit is how many decimal digits fit any integer of that many bits: a little under log10(2) of them.
func surelyFit(intBits int) int { return int(float64(intBits) * 0.30102) }

// fits tells whether an integer has at most that many bits: one from 0 is below 2^bits, a negative one not below -2^bits.
// It only compares digits, so a number that is much too long costs nothing.
func fits(digits []byte, negative bool, intBits int) bool {
	if len(digits) > surelyFit(intBits)+intBits/50000+2 {
		return false // before the power is made
	}
	bound := power(intBits)
	if len(digits) != len(bound) {
		return len(digits) < len(bound)
	}
	order := bytes.Compare(digits, bound)
	return order < 0 || negative && order == 0
}

// lastPower keeps the one power that is asked for again and again.
var lastPower atomic.Pointer[powerOf2]

type powerOf2 struct {
	bits   int
	digits []byte
}

// power returns the digits of 2^bits.
func power(bits int) []byte {
	if p := lastPower.Load(); p != nil && p.bits == bits {
		return p.digits
	}
	p := &powerOf2{bits, new(big.Int).Lsh(big.NewInt(1), uint(bits)).Append(nil, 10)}
	lastPower.Store(p)
	return p.digits
}
