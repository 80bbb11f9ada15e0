package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/docs/schema"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/survey"
)

const schemaBase = "https://raw.githubusercontent.com/lockbench/lockbench/main/docs/schema/"

// schemas compiles all schemas. Strictly they allow no field that they do not describe.
func schemas(t testing.TB, strict bool) map[string]*jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, name := range schema.Names() {
		text := schema.Text(name)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strict {
			shut(doc)
		}
		if err := c.AddResource(schemaBase+name+".schema.json", doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	all := map[string]*jsonschema.Schema{}
	for _, name := range schema.Names() {
		s, err := c.Compile(schemaBase + name + ".schema.json")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = s
	}
	return all
}

// shut lets no object have more fields than the schema describes.
func shut(v any) {
	each(v, func(o map[string]any) {
		if _, ok := o["properties"].(map[string]any); ok {
			o["additionalProperties"] = false
		}
	})
}

// each calls f with every object in v.
func each(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, inner := range v {
			each(inner, f)
		}
	case []any:
		for _, inner := range v {
			each(inner, f)
		}
	}
}

// value is v as its JSON has it, for the validator.
func value(t testing.TB, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, data)
}

func parsed(t testing.TB, data []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v\n%.500s", err, data)
	}
	return v
}

// written are the Go types behind the schemas, and behind the objects inside of them.
func written() map[string]reflect.Type {
	return map[string]reflect.Type{
		"run": reflect.TypeFor[histories.Meta](), "run#usage": reflect.TypeFor[histories.Usage](),
		"run#terms": reflect.TypeFor[histories.Terms](), "run#place": reflect.TypeFor[histories.Place](),
		"results": reflect.TypeFor[checker.Judgement](), "results#judged": reflect.TypeFor[checker.Judged](),
		"results#result": reflect.TypeFor[checker.Result](), "results#window": reflect.TypeFor[checker.Window](),
		"results#peers": reflect.TypeFor[checker.Peers](), "results#own_fault": reflect.TypeFor[checker.OwnFault](),
		"results#cause": reflect.TypeFor[checker.Cause](), "results#cause_command": reflect.TypeFor[checker.CauseCommand](),
		"event": reflect.TypeFor[histories.Event](), "exchange": reflect.TypeFor[histories.Exchange](), "sample": reflect.TypeFor[histories.Sample](),
		"check": reflect.TypeFor[report.Check](), "check.report": reflect.TypeFor[checker.Report](),
		"gate": reflect.TypeFor[gate.Results](), "gate.shard": reflect.TypeFor[gate.Shard](), "gate#row": reflect.TypeFor[gate.Row](),
		"gate#finding": reflect.TypeFor[gate.Finding](), "gate#gap": reflect.TypeFor[gate.Gap](), "gate#survivor": reflect.TypeFor[gate.Survivor](),
		"baseline": reflect.TypeFor[gate.Baseline](), "baseline.findings": reflect.TypeFor[gate.Known](),
		"explored": reflect.TypeFor[explore.Record](), "explored#finding": reflect.TypeFor[explore.Kept](), "explored#deviation": reflect.TypeFor[explore.KeptDeviation](),
		"explored#weakness": reflect.TypeFor[explore.Weakness](), "explored#drawn": reflect.TypeFor[explore.Drawn](), "explored#progress": reflect.TypeFor[explore.Progress](),
		"explored#points": reflect.TypeFor[explore.Points](), "explored#tried": reflect.TypeFor[explore.Tried](), "explored#tally": reflect.TypeFor[explore.Tally](),
		"margins": reflect.TypeFor[marginsDocument](), "margins.margins": reflect.TypeFor[explore.Margin](),
		"matrix": reflect.TypeFor[gate.Matrix](), "matrix.cells": reflect.TypeFor[gate.Cell](),
		"libraries": reflect.TypeFor[survey.Results](), "libraries#finding": reflect.TypeFor[survey.Finding](), "libraries#cell": reflect.TypeFor[survey.Cell](),
		"libraries#confirmation": reflect.TypeFor[survey.Confirmation](), "libraries#undecided": reflect.TypeFor[survey.Undecided](),
		"version": reflect.TypeFor[versionDocument](), "convert": reflect.TypeFor[convertDocument](),
		"clean": reflect.TypeFor[cleanDocument](), "clean#cleaned": reflect.TypeFor[cleanDocument]().Field(1).Type.Elem(),
		"prune": reflect.TypeFor[pruneDocument](), "prune#run": reflect.TypeFor[prunedRun](),
		"error": reflect.TypeFor[errorDocument](), "verify": reflect.TypeFor[verifiedDocument](), "verify#told": reflect.TypeFor[toldVerdict](),
		"certificate": reflect.TypeFor[certificate.Certificate](), "certificate.history": reflect.TypeFor[certificate.Subject](),
		"certificate.commands": reflect.TypeFor[certificate.Commands](), "certificate#place": reflect.TypeFor[histories.Place](),
		"certificate.terms":   reflect.TypeFor[certificate.Terms](),
		"certificate#verdict": reflect.TypeFor[certificate.Verdict](), "certificate#named": reflect.TypeFor[certificate.Named](),
		"certificate#bound": reflect.TypeFor[certificate.Bound](), "certificate#explanation": reflect.TypeFor[certificate.Explanation](),
		"certificate#unproven": reflect.TypeFor[certificate.Unproven](),
	}
}

// object is the schema of an object: of a document, of one of its definitions (#) or of one of
// its fields (.).
func object(t testing.TB, place string) map[string]any {
	t.Helper()
	name, def, isDef := strings.Cut(place, "#")
	name, field, isField := strings.Cut(name, ".")
	o, ok := parsed(t, schema.Text(name)).(map[string]any)
	if !ok {
		t.Fatalf("there is no schema %q", name)
	}
	switch {
	case isDef:
		o, ok = o["$defs"].(map[string]any)[def].(map[string]any)
	case isField:
		o, ok = o["properties"].(map[string]any)[field].(map[string]any)
		if items, list := o["items"].(map[string]any); ok && list {
			o = items
		}
	}
	if !ok {
		t.Fatalf("there is no schema of %s", place)
	}
	return o
}

// fieldsOf are the names of a type's fields in JSON, and those that are always there.
func fieldsOf(t reflect.Type) (all, always []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			inner, some := fieldsOf(f.Type)
			all, always = append(all, inner...), append(always, some...)
		case f.IsExported() && tag != "-":
			all = append(all, tag)
			if !strings.Contains(options, "omit") {
				always = append(always, tag)
			}
		}
	}
	return all, always
}

// TestSchemasDescribeTheTypes compares the fields of the schemas with those of the types that
// are written: each is described, none is made up, and what is always there is required.
func TestSchemasDescribeTheTypes(t *testing.T) {
	types := written()
	for place, typ := range types {
		o := object(t, place)
		all, always := fieldsOf(typ)
		var required []string
		for _, r := range o["required"].([]any) {
			required = append(required, r.(string))
		}
		for what, pair := range map[string][2][]string{
			"fields":   {all, slices.Collect(maps.Keys(o["properties"].(map[string]any)))},
			"required": {always, required},
		} {
			slices.Sort(pair[0])
			slices.Sort(pair[1])
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s of %s in docs/schema are not those of %v (-type +schema):\n%s", what, place, typ, diff)
			}
		}
	}
	for _, name := range schema.Names() {
		if types[name] == nil && name != "report" && name != "list" {
			t.Errorf("nothing is known to be described by %s.schema.json", name)
		}
		o := object(t, name)
		for def := range mapOf(o["$defs"]) {
			if _, isObject := object(t, name+"#"+def)["properties"]; isObject && types[name+"#"+def] == nil {
				t.Errorf("nothing is known to be described by %s#%s", name, def)
			}
		}
	}
}

func mapOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// The schema of lists has the kinds and the columns of the lists.
func TestSchemaOfLists(t *testing.T) {
	fields := object(t, "list")["properties"].(map[string]any)
	for _, l := range listings() {
		var columns []string
		for _, h := range l.header {
			columns = append(columns, fieldName(h))
		}
		slices.Sort(columns)
		got := slices.Sorted(maps.Keys(object(t, "list."+l.kind)["properties"].(map[string]any)))
		if diff := cmp.Diff(columns, got); diff != "" {
			t.Errorf("%s (-list +schema):\n%s", l.kind, diff)
		}
	}
	if len(fields) != len(listings())+1 {
		t.Errorf("the schema has %d fields, want schema and %d kinds", len(fields), len(listings()))
	}
}

// TestSchemasSayWhatTheyMean checks that each schema has a name, each field a description, each
// time its unit, and that no property of the checker is forgotten.
func TestSchemasSayWhatTheyMean(t *testing.T) {
	for _, name := range schema.Names() {
		o := object(t, name)
		if o["$id"] != schemaBase+name+".schema.json" || o["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: $id is %v and $schema is %v", name, o["$id"], o["$schema"])
		}
		if schemaTitle(name) == "" || o["description"] == "" {
			t.Errorf("%s has no title or no description", name)
		}
		each(o, func(inner map[string]any) {
			for field, s := range mapOf(inner["properties"]) {
				_, refers := mapOf(s)["$ref"]
				if text, _ := mapOf(s)["description"].(string); text == "" && !refers {
					t.Errorf("%s: %s has no description", name, field)
				}
			}
		})
	}
	for place, typ := range written() {
		for i := range typ.NumField() {
			if f := typ.Field(i); f.Type == reflect.TypeFor[time.Duration]() {
				tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				s := mapOf(object(t, place)["properties"].(map[string]any)[tag])
				if text, _ := s["description"].(string); s["type"] != "integer" || !strings.Contains(text, "In nanoseconds.") {
					t.Errorf("%s: %s is a time, and its schema does not say that it is an integer in nanoseconds: %v", place, tag, s)
				}
			}
		}
	}
	var known []string
	for _, p := range checker.Properties() {
		known = append(known, string(p))
	}
	if got := fmt.Sprint(object(t, "results#property")["examples"]); got != fmt.Sprint(known) {
		t.Errorf("the properties in results.schema.json are %v, want %v", got, known)
	}
}

// filled is a value of a type in which every field says something.
func filled(typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	if known, ok := map[reflect.Type]any{
		reflect.TypeFor[time.Time]():        time.Date(2026, 11, 20, 12, 0, 0, 5e6, time.UTC),
		reflect.TypeFor[histories.Phase]():  histories.PhaseChecked,
		reflect.TypeFor[histories.Format](): histories.EDN,
		reflect.TypeFor[gate.Outcome]():     gate.Unexpected,
		reflect.TypeFor[gate.Role]():        gate.Twin,
		reflect.TypeFor[gate.State]():       gate.IsBroken,
		reflect.TypeFor[survey.Verdict]():   survey.Shows,
	}[typ]; ok {
		v.Set(reflect.ValueOf(known))
		return v
	}
	switch typ.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		v.Elem().Set(filled(typ.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(typ.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		v.SetMapIndex(filled(typ.Key()), filled(typ.Elem()))
	case reflect.Struct:
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				v.Field(i).Set(filled(f.Type))
				if strings.EqualFold(f.Name, "schema") {
					v.Field(i).SetInt(1)
				}
			}
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Uint64:
		v.SetUint(1<<64 - 1) // which no double can hold
	case reflect.Uint8:
		v.SetUint(1)
	default:
		v.SetInt(7)
	}
	return v
}

// samples are a document of each schema that has all fields.
func samples(t testing.TB) map[string]any {
	all := map[string]any{}
	for place, typ := range written() {
		if !strings.ContainsAny(place, "#.") {
			all[place] = value(t, filled(typ).Interface())
		}
	}
	all["report"] = map[string]any{"schema": json.Number("1"), "run": all["run"], "results": all["results"], "dir": "store", "error": "none"}
	var list bytes.Buffer
	if err := listJSON(&list, listings()); err != nil {
		t.Fatal(err)
	}
	all["list"] = parsed(t, list.Bytes())
	all["error"].(map[string]any)["exit"] = json.Number("254")
	all["explored"].(map[string]any)["schema"] = json.Number(strconv.Itoa(explore.Schema))
	all["gate"].(map[string]any)["explored"].([]any)[0].(map[string]any)["schema"] = json.Number(strconv.Itoa(explore.Schema))
	all["certificate"].(map[string]any)["schema"] = json.Number(strconv.Itoa(certificate.Schema))
	for _, kind := range []string{"removed", "left"} {
		all["clean"].(map[string]any)[kind].([]any)[0].(map[string]any)["kind"] = "network"
		all["prune"].(map[string]any)[kind].([]any)[0].(map[string]any)["outcome"] = "unknown"
	}
	return all
}

// TestSchemasReject takes a document that is sound, and breaks it in one place after the other:
// every value is exchanged for one of another type, and every field that is required taken
// away. No such document is accepted.
func TestSchemasReject(t *testing.T) {
	open, strict, docs := schemas(t, false), schemas(t, true), samples(t)
	for _, name := range schema.Names() {
		sound, n := docs[name], 0
		for kind, s := range map[string]*jsonschema.Schema{"open": open[name], "strict": strict[name]} {
			if err := s.Validate(sound); err != nil {
				t.Errorf("%s, %s: a document with all fields is refused: %v", name, kind, err)
			}
		}
		broken(sound, func(what string) {
			n++
			if err := open[name].Validate(sound); err == nil {
				t.Errorf("%s: accepted with %s", name, what)
			}
		}, name)
		if n < 4 {
			t.Errorf("%s: only %d things were broken", name, n)
		}
		if o, ok := sound.(map[string]any); ok {
			o["surprise"] = "x"
			closed := slices.Contains([]string{"event", "exchange", "sample"}, name)
			if err := open[name].Validate(o); (err != nil) != closed {
				t.Errorf("%s: a field that is not known: %v; want a refusal: %v", name, err, closed)
			}
			if strict[name].Validate(o) == nil {
				t.Errorf("%s: read strictly, a field that is not known is accepted", name)
			}
		}
	}
}

// broken breaks v in one place at a time, and calls check for each.
func broken(v any, check func(what string), path string) {
	exchange := func(set func(any), old any, at string) {
		var other any = "text"
		if _, isText := old.(string); isText {
			other = json.Number("7")
		}
		for _, wrong := range []any{other, nil, []any{[]any{}}} {
			set(wrong)
			check(fmt.Sprintf("%s = %v", at, wrong))
		}
		set(old)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(v)) {
			old, at := v[field], path+"."+field
			exchange(func(x any) { v[field] = x }, old, at)
			broken(old, check, at)
		}
	case []any:
		for i, old := range v[:min(len(v), 1)] {
			at := fmt.Sprintf("%s.%d", path, i)
			exchange(func(x any) { v[i] = x }, old, at)
			broken(old, check, at)
		}
	}
}

// TestSchemasWant checks what no exchange of types shows.
func TestSchemasWant(t *testing.T) {
	all, texts := schemas(t, false), map[string][]byte{}
	for name, doc := range samples(t) {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = text
	}
	sample := func(name string) map[string]any { return parsed(t, texts[name]).(map[string]any) } // one to break
	for _, name := range schema.Names() {
		for _, required := range object(t, name)["required"].([]any) {
			doc := sample(name)
			delete(doc, required.(string))
			if all[name].Validate(doc) == nil {
				t.Errorf("%s: accepted without %v", name, required)
			}
		}
	}
	for _, tc := range []struct{ name, path, value string }{
		{"run", "schema", "2"}, {"results", "schema", "0"}, {"gate", "schema", "1.5"}, {"check", "schema", `"1"`},
		{"run", "phase", `"over"`}, {"run", "started", `"yesterday"`}, {"run", "seed", "-1"}, {"run", "seed", "18446744073709551616"}, {"run", "ttl", "1.5"},
		{"results", "verdict", `"maybe"`}, {"results", "verdict", `"FAIL"`}, {"results", "outcome", `"fail"`},
		{"results", "results.0.verdict", `"passed"`}, {"results", "results.0.window.first", "0.5"}, {"results", "results.0.took", `"1ms"`},
		{"results", "expected.0.want", `""`}, {"results", "expected.0.met", `"true"`},
		{"event", "type", `"okay"`}, {"event", "process", "-2"}, {"event", "index", "-1"}, {"event", "f", `""`}, {"event", "time", "0.001"},
		{"exchange", "command", `""`}, {"sample", "process", `""`},
		{"report", "results.verdict", `"maybe"`}, {"report", "run.schema", "3"}, {"report", "error", `""`},
		{"check", "format", `"xml"`}, {"check", "report.verdict", `"maybe"`}, {"check", "report.results.0.verdict", `"maybe"`},
		{"gate", "rows.0.outcome", `"fail"`}, {"gate", "rows.0.role", `"villain"`}, {"gate", "rows.0.judged.0.got", `"maybe"`}, {"gate", "shard.index", "0"},
		{"baseline", "findings.0.got", `"maybe"`}, {"matrix", "cells.0.state", `"broke"`}, {"convert", "to", `"jepsen-log"`},
		{"clean", "removed.0.kind", `"image"`}, {"error", "exit", "0"}, {"list", "locks.0.masters", "1"},
	} {
		doc := sample(tc.name)
		if err := all[tc.name].Validate(doc); err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		put(t, doc, strings.Split(tc.path, "."), parsed(t, []byte(tc.value)))
		if all[tc.name].Validate(doc) == nil {
			t.Errorf("%s: accepted with %s = %s", tc.name, tc.path, tc.value)
		}
	}
	r := sample("report")
	for _, field := range []string{"error", "results"} {
		delete(r, field)
	}
	if all["report"].Validate(r) == nil {
		t.Error("report: accepted with neither results nor an error")
	}
}

// put sets a value deep in a document.
func put(t testing.TB, v any, path []string, x any) {
	t.Helper()
	for _, step := range path[:len(path)-1] {
		if list, ok := v.([]any); ok {
			v = list[0]
		} else {
			v = mapOf(v)[step]
		}
	}
	m, ok := v.(map[string]any)
	if !ok || m[path[len(path)-1]] == nil {
		t.Fatalf("there is no %v", path)
	}
	m[path[len(path)-1]] = x
}
