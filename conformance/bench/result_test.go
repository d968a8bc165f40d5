package main

import (
	"strings"
	"testing"
)

// Every goal is about contenders that its measure takes, so that none is silently not measured.
func TestGoalsNameContenders(t *testing.T) {
	for _, m := range measures {
		in := map[string]bool{"": true, bestPeer: true}
		for _, c := range m.field() {
			in[c.name] = true
		}
		if m.base != "" && !in[m.base] {
			t.Errorf("%s: base %q is no contender", m.name, m.base)
		}
		for _, g := range m.goals {
			if !in[g.who] || !in[g.than] {
				t.Errorf("%s: %q is about a contender that the measure has not", m.name, g.text(m))
			}
			if g.column == derivedColumn && m.derive == nil || g.column >= len(m.columns) {
				t.Errorf("%s: %q is about a column that the measure has not", m.name, g.text(m))
			}
		}
	}
}

func TestQuartiles(t *testing.T) {
	for _, c := range []struct{ values, want []float64 }{
		{[]float64{3}, []float64{3, 3, 3}},
		{[]float64{4, 2}, []float64{2.5, 3, 3.5}},
		{[]float64{5, 1, 3, 2, 4}, []float64{2, 3, 4}},
	} {
		if low, middle, high := quartiles(c.values); low != c.want[0] || middle != c.want[1] || high != c.want[2] {
			t.Errorf("quartiles(%v) = %v, %v, %v; want %v", c.values, low, middle, high, c.want)
		}
	}
}

// Ratios are of one round each: a round in which all were slow changes none.
func TestJudge(t *testing.T) {
	rs := results{}
	rs.of("echo", "kith-json").rounds = map[int][]float64{0: {11, 1}, 1: {110, 1}, 2: {12, 1}}
	rs.of("echo", "raw").rounds = map[int][]float64{0: {10, 1}, 1: {100, 1}, 2: {10, 1}, 3: {1, 1}}
	rs.of("echo", "grpc").rounds = map[int][]float64{1: {550, 1}}
	m, err := findMeasure("echo")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		goal goal
		want verdict
	}{
		{goal{who: "kith-json", than: "raw", atMost: 1.15}, verdict{"kith-json: at most 1.15x raw", "1.1x", true}},
		{goal{who: "kith-json", than: "raw", atMost: 1.05}, verdict{"kith-json: at most 1.05x raw", "1.1x", false}},
		{goal{who: "kith-json", than: "grpc", faster: 5}, verdict{"kith-json: at least 5x as fast as grpc", "5x", true}},
		{goal{who: "kith-json", than: bestPeer, faster: 6}, verdict{"kith-json: at least 6x as fast as the best peer", "5x (grpc)", false}},
		{goal{who: "kith-json", atMost: 12}, verdict{"kith-json: at most 12 us per call", "12", true}},
		{goal{who: "kith-json", than: "raw", atMost: 1, orValue: 12},
			verdict{"kith-json: at most 1x raw, or 12 us per call", "1.1x, 12 us per call", true}},
		{goal{who: "kith-cbor", than: "raw", atMost: 1}, verdict{"kith-cbor: at most 1x raw", "", false}},
	} {
		if got := rs.judge(m, c.goal); got != c.want {
			t.Errorf("judged %+v, want %+v", got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", 1.304: "1.3", 12.34: "12.3", 100: "100", 1234.5: "1234", -0.65: "-0.65"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

// A contender that cannot run here is in its table, with the reason.
func TestReportNamesWhatIsMissing(t *testing.T) {
	m, err := findMeasure("pipe")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{options: options{rounds: 1, measures: []measure{m}}, results: results{}}
	r.results.of("pipe", "kith-json").rounds[0] = []float64{20, 19}
	r.results.of("pipe", "raw").rounds[0] = []float64{10, 9}
	*r.results.of("pipe", "c") = result{failure: "no C compiler (cc) is here", absent: true}
	r.results.of("pipe", "mcp").failure = "it broke"
	var text strings.Builder
	r.report(&text)
	for _, want := range []string{
		"| raw Go | 10 | 9 | – |\n| kith, JSON | 20 | 19 | – |\n",
		"| C, blocking | no C compiler (cc) is here |\n",
		"| pipe | kith-json: at most 1.2x c | not measured |  |\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, text.String())
		}
	}
	if n := r.results.failures(); n != 1 {
		t.Errorf("%d failures, want that of mcp alone", n)
	}
}
