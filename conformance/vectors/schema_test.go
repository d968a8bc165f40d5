package vectors_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// schema is the part of JSON Schema that schema.json uses; strict decoding refuses it the day it uses more.
type schema struct {
	Schema      string            `json:"$schema"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Ref         string            `json:"$ref"`
	Defs        map[string]schema `json:"$defs"`

	Type       string            `json:"type"`
	Const      any               `json:"const"`
	Enum       []any             `json:"enum"`
	OneOf      []schema          `json:"oneOf"`
	Pattern    string            `json:"pattern"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	Items      *schema           `json:"items"`
	MinItems   int               `json:"minItems"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Additional *bool             `json:"additionalProperties"`
}

// check says what is wrong with a value at a path, and nothing where nothing is.
func (s schema) check(defs map[string]schema, at string, v any) error {
	if s.Ref != "" {
		def, is := defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		if !is {
			return fmt.Errorf("%s: there is no %s", at, s.Ref)
		}
		return def.check(defs, at, v)
	}
	if s.Const != nil && !reflect.DeepEqual(s.Const, v) || s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		return fmt.Errorf("%s: %v is not %v%v", at, v, s.Const, s.Enum)
	}
	if err := s.oneOf(defs, at, v); err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		if s.Type != "" && s.Type != "string" || !regexp.MustCompile(s.Pattern).MatchString(v) {
			return fmt.Errorf("%s: %.60q is not %s %s", at, v, s.Type, s.Pattern)
		}
	case float64:
		if s.Type != "integer" || v != math.Trunc(v) || s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			return fmt.Errorf("%s: %v is not %s", at, v, s.Type)
		}
	case bool:
		if s.Type != "boolean" {
			return fmt.Errorf("%s: a bool is not %s", at, s.Type)
		}
	case []any:
		return s.list(defs, at, v)
	case map[string]any:
		return s.object(defs, at, v)
	}
	return nil
}

// oneOf lets exactly one of several be right. Of cases it is told by their kind, so that the error is about that one.
func (s schema) oneOf(defs map[string]schema, at string, v any) error {
	if s.OneOf == nil {
		return nil
	}
	right := 0
	var err error
	for _, one := range s.OneOf {
		e := one.check(defs, at, v)
		if e == nil {
			right++
		}
		if m, is := v.(map[string]any); e != nil && is && one.Properties["kind"].Const == m["kind"] {
			err = e
		}
	}
	if right != 1 && err == nil {
		err = fmt.Errorf("%s: %d of its forms are right", at, right)
	}
	if right == 1 {
		return nil
	}
	return err
}

func (s schema) list(defs map[string]schema, at string, v []any) error {
	if s.OneOf != nil {
		return nil
	}
	if s.Type != "array" || len(v) < s.MinItems {
		return fmt.Errorf("%s: a list of %d is not %s of %d", at, len(v), s.Type, s.MinItems)
	}
	for i, element := range v {
		if err := s.Items.check(defs, fmt.Sprint(at, "/", i), element); err != nil {
			return err
		}
	}
	return nil
}

func (s schema) object(defs map[string]schema, at string, v map[string]any) error {
	if s.OneOf != nil {
		return nil
	}
	if s.Type != "object" {
		return fmt.Errorf("%s: a map is not %s", at, s.Type)
	}
	for _, name := range s.Required {
		if _, is := v[name]; !is {
			return fmt.Errorf("%s: %s is missing", at, name)
		}
	}
	for name, value := range v {
		member, is := s.Properties[name]
		if !is {
			return fmt.Errorf("%s: %s is unknown", at, name)
		}
		if err := member.check(defs, at+"/"+name, value); err != nil {
			return err
		}
	}
	return nil
}

func readSchema(t *testing.T) (s schema) {
	t.Helper()
	b, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := strict(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchema holds every data file to schema.json, so that a runner in another language can rely on it.
func TestSchema(t *testing.T) {
	s := readSchema(t)
	paths, err := filepath.Glob("*.json")
	if err != nil || len(paths) < 2 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if path == "schema.json" {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := s.check(s.Defs, path, v); err != nil {
			t.Error(err)
		}
	}
}

// TestSchemaRefuses shows that the check above can fail.
func TestSchemaRefuses(t *testing.T) {
	s := readSchema(t)
	for name, text := range map[string]string{
		"an unknown kind":    `{"name":"x","kind":"guess","rules":["SHAPE-1"]}`,
		"an unknown member":  `{"name":"x","kind":"described","rules":["SHAPE-1"],"describe":["y"],"z":1}`,
		"no rule":            `{"name":"x","kind":"described","rules":[],"describe":["y"]}`,
		"a name with spaces": `{"name":"x y","kind":"described","rules":["SHAPE-1"],"describe":["y"]}`,
		"hex of odd length":  `{"name":"x","kind":"message","rules":["SHAPE-1"],"input":{"hex":"a"},"allow":[{"is":"call"}]}`,
		"an unknown step":    `{"name":"x","kind":"program","rules":["SHAPE-1"],"steps":[{"do":"dance"}]}`,
		"nothing allowed":    `{"name":"x","kind":"message","rules":["SHAPE-1"],"input":"{}","allow":[]}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(`{"$schema":"schema.json","area":"x","about":"x","cases":[`+text+`]}`), &v); err != nil {
			t.Fatal(err)
		}
		if s.check(s.Defs, "", v) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestREADME holds README.md to the words that schema.json knows.
func TestREADME(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	s := readSchema(t)
	words := s.Defs["step"].Properties["do"].Enum
	words = append(slices.Clip(words), s.Defs["outcome"].Properties["is"].Enum...)
	for name := range maps.Keys(s.Defs["piece"].Properties) {
		words = append(words, name)
	}
	for _, c := range s.Properties["cases"].Items.OneOf {
		words = append(words, c.Properties["kind"].Const)
	}
	for _, word := range words {
		if !strings.Contains(string(b), fmt.Sprintf("`%v`", word)) {
			t.Errorf("README.md does not say what %v is", word)
		}
	}
}
