package plan

import (
	"math"
	"strings"
	"testing"
)

// namedMap and namedList are written by reflection, as every type is that nobody knows here.
type (
	namedMap  map[string]any
	namedList []any
)

// named is a value with types that have names in place of those that have none.
func named(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v == nil {
			return namedMap(nil)
		}
		m := namedMap{}
		for name, member := range v {
			m[name] = named(member)
		}
		return m
	case []any:
		var list namedList
		for _, elem := range v {
			list = append(list, named(elem))
		}
		return list
	case string:
		type text string
		return text(v)
	case float64:
		type float float64
		return float(v)
	case int64:
		type whole int64
		return whole(v)
	case int:
		type whole int
		return whole(v)
	case bool:
		type truth bool
		return truth(v)
	}
	return value
}

func within(depth int) any {
	var v any = "deep"
	for i := range depth {
		if i%2 == 0 {
			v = map[string]any{"in": v}
		} else {
			v = []any{v}
		}
	}
	return v
}

// What an any holds is written as reflection writes the same, and refused in the same words.
func TestUntypedAsTyped(t *testing.T) {
	many := map[string]any{}
	for _, name := range strings.Fields(strings.Repeat("a bb b ab ba aaa é zz z ", 9)) {
		many[strings.Repeat(name, 1+len(many)%7)] = len(many)
	}
	codec := New(Config{})
	for what, value := range map[string]any{
		"tree": map[string]any{"name": "read_file", "args": map[string]any{"path": "/a\n\"b\"", "offset": int64(120), "raw": false, "n": 7},
			"score": 0.75, "whole": 1e6, "tags": []any{"a", []any{}, nil, true}, "none": nil, "empty": map[string]any{}},
		"nil map": map[string]any(nil), "nil list": []any(nil), "many": many,
		"pointer": []any{&many}, "not a number": []any{1.5, math.NaN()}, "infinite": map[string]any{"x": math.Inf(-1)},
		"not UTF-8": []any{"\xff"}, "name not UTF-8": map[string]any{"a": map[string]any{"\xff": 1}}, "no such type": []any{make(chan int)},
		"deepest": within(limits.Depth), "too deep": within(limits.Depth + 1), "too many": []any{make([]any, limits.Items)},
	} {
		for name, enc := range encodings {
			got, items, err := codec.Append(nil, enc, value, limits)
			want, wantItems, wantErr := codec.Append(nil, enc, named(value), limits)
			if string(got) != string(want) || items != wantItems {
				t.Errorf("%s, %s: %q of %d items, and reflection writes %q of %d", what, name, got, items, want, wantItems)
			}
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%s, %s: error %v, and reflection says %v", what, name, err, wantErr)
			}
		}
	}
}
