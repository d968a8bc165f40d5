package main

import "slices"

// result is what one contender did in one measure.
type result struct {
	rounds  map[int][]float64 // the columns of each round
	failure string            // why there are no more
	absent  bool              // it cannot run here, which is no failure
}

// results are by measure and contender.
type results map[string]map[string]*result

func (rs results) of(measure, who string) *result {
	if rs[measure] == nil {
		rs[measure] = map[string]*result{}
	}
	if rs[measure][who] == nil {
		rs[measure][who] = &result{rounds: map[int][]float64{}}
	}
	return rs[measure][who]
}

// drop forgets a round.
func (rs results) drop(round int) {
	for _, m := range rs {
		for _, r := range m {
			delete(r.rounds, round)
		}
	}
}

// failures counts the contenders that ran and failed; those that are missing here have not run.
func (rs results) failures() (n int) {
	for _, m := range rs {
		for _, r := range m {
			if r.failure != "" && !r.absent {
				n++
			}
		}
	}
	return n
}

// column returns the values of a column, in no order.
func (r *result) column(i int) (values []float64) {
	for _, v := range r.rounds {
		values = append(values, v[i])
	}
	return values
}

// medians are those of the first n columns.
func (r *result) medians(n int) []float64 {
	middles := make([]float64, n)
	for i := range middles {
		middles[i] = median(r.column(i))
	}
	return middles
}

// ratios returns r over base in the first column, in each round that both have.
func (r *result) ratios(base *result) (ratios []float64) {
	for round, v := range r.rounds {
		if b, ok := base.rounds[round]; ok {
			ratios = append(ratios, v[0]/b[0])
		}
	}
	return ratios
}

// quartiles returns the first, the median and the third; values must not be empty.
func quartiles(values []float64) (low, median, high float64) {
	v := slices.Sorted(slices.Values(values))
	at := func(part float64) float64 {
		place := part * float64(len(v)-1)
		i := int(place)
		if i+1 == len(v) {
			return v[i]
		}
		return v[i] + (v[i+1]-v[i])*(place-float64(i))
	}
	return at(0.25), at(0.5), at(0.75)
}

func median(values []float64) float64 {
	_, m, _ := quartiles(values)
	return m
}

// bestPeer is the peer with the least median in a measure; empty where none has a value.
func (rs results) bestPeer(measure string) (name string) {
	least := 0.0
	for _, c := range contenders {
		values := rs.of(measure, c.name).column(0)
		if !c.peer || len(values) == 0 {
			continue
		}
		if m := median(values); name == "" || m < least {
			name, least = c.name, m
		}
	}
	return name
}

// verdict is a goal and what came of it.
type verdict struct {
	goal     string
	measured string // empty: one of the two was not measured
	met      bool
}

func (rs results) judge(m measure, g goal) verdict {
	than := g.than
	if than == bestPeer {
		than = rs.bestPeer(m.name)
	}
	v := verdict{goal: g.text(m)}
	who := rs.of(m.name, g.who)
	if len(who.rounds) == 0 {
		return v
	}
	if g.than == "" {
		value := 0.0
		if middles := who.medians(len(m.columns)); g.column == derivedColumn {
			value = m.derive.of(middles)
		} else {
			value = middles[g.column]
		}
		v.measured, v.met = number(value), value <= g.atMost
		return v
	}
	ratios := who.ratios(rs.of(m.name, than))
	if len(ratios) == 0 {
		return v
	}
	ratio := median(ratios)
	if g.faster > 0 {
		v.measured, v.met = number(1/ratio)+"x", 1/ratio >= g.faster
	} else {
		v.measured, v.met = number(ratio)+"x", ratio <= g.atMost
	}
	if g.than == bestPeer {
		v.measured += " (" + than + ")"
	}
	if g.orValue > 0 {
		value := median(who.column(0))
		v.measured += ", " + number(value) + " " + m.columns[0]
		v.met = v.met || value <= g.orValue
	}
	return v
}

func (m measure) unit(column int) string {
	if column == derivedColumn {
		return m.derive.title
	}
	return m.columns[column]
}

func (g goal) text(m measure) string {
	switch {
	case g.than == "":
		return g.who + ": at most " + number(g.atMost) + " " + m.unit(g.column)
	case g.faster > 0:
		return g.who + ": at least " + number(g.faster) + "x as fast as " + g.than
	case g.orValue > 0:
		return g.who + ": at most " + number(g.atMost) + "x " + g.than + ", or " + number(g.orValue) + " " + m.columns[0]
	}
	return g.who + ": at most " + number(g.atMost) + "x " + g.than
}
