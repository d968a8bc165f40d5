package plan

import (
	"math"
	"math/big"
	"reflect"

	"github.com/kith-wire/kith/shape/internal/wire"
)

func boolPlan(p *plan) {
	p.word = wire.Bool.String()
	p.append = func(e *encoder, v reflect.Value) error {
		e.dst = wire.AppendBool(e.dst, e.enc, v.Bool())
		return nil
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		if d.Kind() != wire.Bool {
			return taken(d.Cursor, p.word)
		}
		v.SetBool(d.Bool())
		return nil
	}
}

func stringPlan(p *plan) {
	p.word, p.plain = wire.Text.String(), true
	p.append = func(e *encoder, v reflect.Value) error { return e.text(v.String()) }
	p.decode = func(d *decoder, v reflect.Value) error {
		if d.Kind() != wire.Text {
			return taken(d.Cursor, p.word)
		}
		v.SetString(d.text())
		return nil
	}
}

// whole returns the number that comes, where it is a whole one: an integer, or a float without a fraction (ENC-6).
func whole(d *decoder) (small int64, large *big.Int, err error) {
	before := d.Cursor
	if kind := d.Kind(); kind != wire.Int && kind != wire.Float {
		return 0, nil, taken(before, wire.Int.String())
	}
	n := d.Number()
	switch {
	case n.Big != nil:
		return 0, n.Big, nil
	case !n.IsFloat:
		return n.Int, nil, nil
	case n.Float != math.Trunc(n.Float):
		return 0, nil, taken(before, wire.Int.String())
	case n.Float >= -1<<63 && n.Float < 1<<63:
		return int64(n.Float), nil, nil
	}
	large, _ = big.NewFloat(n.Float).Int(nil)
	return 0, large, nil
}

func intPlan(p *plan) {
	p.word, p.plain = wire.Int.String(), true
	p.append = func(e *encoder, v reflect.Value) error {
		e.dst = wire.AppendInt(e.dst, e.enc, v.Int())
		return nil
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		before := d.Cursor
		n, large, err := whole(d)
		if err != nil {
			return err
		}
		if large != nil || v.OverflowInt(n) {
			return errorf("is %s and an int of %d bits is taken", Quote(before), v.Type().Bits())
		}
		v.SetInt(n)
		return nil
	}
}

func uintPlan(p *plan) {
	p.word = wire.Int.String()
	p.append = func(e *encoder, v reflect.Value) error {
		e.dst = wire.AppendUint(e.dst, e.enc, v.Uint())
		return nil
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		before := d.Cursor
		n, large, err := whole(d)
		if err != nil {
			return err
		}
		u, fits := uint64(n), n >= 0
		if large != nil {
			u, fits = large.Uint64(), large.IsUint64()
		}
		if !fits || v.OverflowUint(u) {
			return errorf("is %s and an int from 0 of %d bits is taken", Quote(before), v.Type().Bits())
		}
		v.SetUint(u)
		return nil
	}
}

// floatPlan: an integer is taken where a float64 holds it exactly. A float32 takes the nearest of it, as Go's conversion
// does, and nothing beyond the largest.
func floatPlan(p *plan) {
	p.word = wire.Float.String()
	p.append = func(e *encoder, v reflect.Value) error {
		return e.float(v.Float())
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		before := d.Cursor
		if kind := d.Kind(); kind != wire.Int && kind != wire.Float {
			return taken(before, p.word)
		}
		f, exact := float(d.Number())
		if !exact || v.OverflowFloat(f) {
			return errorf("is %s and a number that a float of %d bits holds is taken", Quote(before), v.Type().Bits())
		}
		v.SetFloat(f)
		return nil
	}
}

// float returns a number as a float, and whether it is still the same number.
func float(n wire.Number) (f float64, exact bool) {
	switch {
	case n.Big != nil:
		f, accuracy := new(big.Float).SetInt(n.Big).Float64()
		return f, accuracy == big.Exact
	case !n.IsFloat:
		f := float64(n.Int)
		return f, f < 1<<63 && int64(f) == n.Int
	}
	return n.Float, true
}

func bigPlan(p *plan) {
	p.word = wire.Int.String()
	p.append = func(e *encoder, v reflect.Value) error {
		n := addressed(v).(*big.Int)
		bits := n.BitLen()
		if n.Sign() < 0 {
			bits = new(big.Int).Not(n).BitLen()
		}
		if bits > e.left.IntBits {
			return errorf("is an integer of %d bits and the limit is %d", bits, e.left.IntBits)
		}
		e.dst = wire.AppendBig(e.dst, e.enc, n)
		return nil
	}
	p.decode = func(d *decoder, v reflect.Value) error {
		n, large, err := whole(d)
		if err != nil {
			return err
		}
		if large == nil {
			large = big.NewInt(n)
		}
		v.Set(reflect.ValueOf(large).Elem())
		return nil
	}
}

// addressed returns a pointer to the value, or to a copy where it has no address.
func addressed(v reflect.Value) any {
	if v.CanAddr() {
		return v.Addr().Interface()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Interface()
}
