package main

import (
	"fmt"
	"slices"
)

// measure is one table of the results. What it returns is lower where it is better; its first column is what ratios are made of.
type measure struct {
	name    string
	title   string
	columns []string
	base    string // the contender that ratios are to
	goals   []goal
	// takes says whether a contender can do it.
	takes func(c contender) bool
	// server says that it needs one, in a process of its own.
	server bool
	run    func(s slice) ([]float64, error)
	// derive makes columns of a slice's values that are shown and not compared.
	derive *derived
}

type derived struct {
	title string
	of    func(values []float64) float64
}

// goal is what a measured ratio should be.
type goal struct {
	who  string
	than string // the other of the ratio; bestPeer; empty: a value and no ratio
	// atMost bounds who over than; faster is the least than over who. One of them is set.
	atMost, faster float64
	column         int     // of a value, or derivedColumn
	orValue        float64 // a value of who's first column that meets the goal as well
}

const (
	bestPeer      = "the best peer"
	derivedColumn = -1 // what the measure derives of all columns
)

// Lines of goals for kith in JSON and in CBOR.
func atMost(json, cbor float64, than string) []goal {
	return []goal{{who: "kith-json", than: than, atMost: json}, {who: "kith-cbor", than: than, atMost: cbor}}
}

func faster(by float64, than string) []goal {
	return []goal{{who: "kith-json", than: than, faster: by}, {who: "kith-cbor", than: than, faster: by}}
}

func valueAtMost(value float64, column int) []goal {
	return []goal{{who: "kith-json", atMost: value, column: column}, {who: "kith-cbor", atMost: value, column: column}}
}

var measures = slices.Concat(echoMeasures, bulkMeasures, memoryMeasures, startMeasures, localMeasures, growthMeasures)

func findMeasure(name string) (measure, error) {
	i := slices.IndexFunc(measures, func(m measure) bool { return m.name == name })
	if i < 0 {
		return measure{}, fmt.Errorf("no measure is named %q", name)
	}
	return measures[i], nil
}

// field are the contenders that a measure takes, those that are missing here included.
func (m measure) field() []contender {
	var field []contender
	for _, c := range contenders {
		if c.only != nil {
			if slices.Contains(c.only, m.name) {
				field = append(field, c)
			}
			continue
		}
		if m.takes(c) {
			field = append(field, c)
		}
	}
	return field
}

func served(c contender) bool { return c.serve != nil && c.dial != nil && !c.starts }
func called(c contender) bool { return c.serve != nil && c.dial != nil }
func shared(c contender) bool { return called(c) && c.shared }
