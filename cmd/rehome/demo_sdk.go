package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/convert"
	"rehome/testdata/sdk"
)

// demoSDK is what the demo found of an agent that a program ran.
type demoSDK struct {
	Files []string `json:"files"`
	Agent string   `json:"agent"`
	Place string   `json:"place"`
	Equal bool     `json:"equal"`

	before, files, placed listing
	project               string              // the folder of the client around Place
	lines                 []string            // the first of some files of the text
	sets                  []convert.SetReport // of the text that went and came back
	secrets               int64               // that stayed home
	sameText, sameStore   bool
}

// listing is files with their sizes.
type listing struct {
	names []string
	sizes []int64
}

// The checkout of the demo, as a program that works in it calls it. Nothing
// has to be there: clients know a folder by its name.
const (
	demoCheckout = "/home/ann/my-app"
	demoHome     = "elsewhere"
)

// agents makes text of what a program with the SDK has left.
func (t tour) agents(res *demoResult) error {
	err := fs.WalkDir(sdk.Stores, sdk.Project, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := sdk.Stores.ReadFile(name)
		if err != nil {
			return err
		}
		return t.write(path.Join("project", strings.TrimPrefix(name, sdk.Project)), b)
	})
	if err != nil {
		return err
	}
	if res.SDK.before, err = t.list("project"); err != nil {
		return err
	}
	if _, err := t.convert("project", "agents", convert.Options{To: "cursor-ndjson"}); err != nil {
		return err
	}
	for _, name := range []string{"agents", "agents.sidecar.ndjson"} {
		l, err := t.list(name)
		if err != nil {
			return err
		}
		res.SDK.files.add(l)
	}
	res.SDK.Files = res.SDK.files.names
	return t.excerpt(&res.SDK)
}

func (l *listing) add(more listing) {
	l.names, l.sizes = append(l.names, more.names...), append(l.sizes, more.sizes...)
}

// excerpt takes the line of the agent, and the event with what it was asked.
func (t tour) excerpt(r *demoSDK) error {
	for _, at := range []struct{ file, mark string }{{"agents.ndjson", ""}, {"run_events.ndjson", `"type":"user"`}} {
		b, err := os.ReadFile(t.path("agents/" + at.file))
		if err != nil {
			return err
		}
		for line := range bytes.Lines(b) {
			if bytes.Contains(line, []byte(at.mark)) {
				r.lines = append(r.lines, strings.TrimSuffix(string(line), "\n"))
				break
			}
		}
	}
	var doc struct {
		AgentID string `json:"agentId"`
	}
	err := json.Unmarshal([]byte(r.lines[0]), &doc)
	r.Agent = doc.AgentID
	return err
}

// checkout makes a store of the text where the client looks for it from
// another folder of another home.
func (t tour) checkout(res *demoResult) error {
	report, err := t.convert("agents", "", convert.Options{Cwd: demoCheckout, Home: t.path(demoHome)})
	if err != nil {
		return err
	}
	place, err := filepath.Rel(t.folder, report.Target)
	if err != nil {
		return err
	}
	res.SDK.Place, res.SDK.secrets = filepath.ToSlash(place), report.Stores[0].Omitted
	res.SDK.project = path.Dir(path.Dir(res.SDK.Place))
	res.SDK.placed, err = t.list(res.SDK.project)
	return err
}

// home takes the same way with the secrets in the text, and back to where it
// began: text and text must be the same, and so must the databases, which
// their archives compare cell by cell.
func (t tour) home(res *demoResult) error {
	secrets := convert.Options{WithSecrets: true}
	to := func(format string) convert.Options { return convert.Options{To: format, WithSecrets: true} }
	for _, step := range []struct {
		src, dst string
		o        convert.Options
	}{
		{"project", "kept", to("cursor-ndjson")},
		{"kept", "returned", secrets},
		{"returned", "kept-again", to("cursor-ndjson")},
		{"project", "cells", to("archive")},
		{"returned", "cells-again", to("archive")},
	} {
		report, err := t.convert(step.src, step.dst, step.o)
		if err != nil {
			return err
		}
		if step.src == "kept" {
			res.SDK.sets = report.Stores[0].Sets
		}
	}
	var err error
	if res.SDK.sameText, err = sameTrees(t.path("kept"), t.path("kept-again")); err != nil {
		return err
	}
	beside, err := sameFiles(t.path("kept.sidecar.ndjson"), t.path("kept-again.sidecar.ndjson"))
	if err != nil {
		return err
	}
	if res.SDK.sameStore, err = sameTrees(t.path("cells"), t.path("cells-again")); err != nil {
		return err
	}
	res.SDK.sameText = res.SDK.sameText && beside
	res.SDK.Equal = res.SDK.sameText && res.SDK.sameStore
	res.Equal = res.Equal && res.SDK.Equal
	return nil
}

func sameFiles(a, b string) (bool, error) {
	left, err := os.ReadFile(a)
	if err != nil {
		return false, err
	}
	right, err := os.ReadFile(b)
	return bytes.Equal(left, right), err
}
