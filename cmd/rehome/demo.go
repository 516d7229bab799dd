package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert"
	"rehome/formats"
	"rehome/testdata/chat"
)

// demoResult is what the demo left and found: schema demo-result-1. Its text
// is a walk through the steps.
type demoResult struct {
	Folder string   `json:"folder"`
	Files  []string `json:"files"`
	Diff   demoDiff `json:"diff"`
	SDK    demoSDK  `json:"sdk"`
	Equal  bool     `json:"equal"`

	Migrated demoMigrated `json:"migrated"`

	listed listing // Files
	shown  treeDiff
	sets   []convert.SetReport // of the store that went in and came back
	secret int64               // secrets that stayed home
	same   bool                // the text of the store that came back is the text it came from
	whole  bool                // with secrets, every cell came back
}

type demoDiff struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Bytes   int `json:"bytes"`
}

// tour is a demo under way in its folder.
type tour struct {
	*house
	folder string
}

// Run shows the main job: store to text, one turn later again, and back; and
// then what programs that run agents need of it.
func (demoCmd) Run(h *house) error {
	folder, err := os.MkdirTemp("", "rehome-demo-")
	if err != nil {
		return &formats.Error{Op: "demo", Err: err}
	}
	t := tour{h, folder}
	res := &demoResult{Folder: folder}
	for _, step := range []func(*demoResult) error{t.there, t.oneTurnLater, t.back, t.whole, t.agents, t.checkout, t.home, t.goOn} {
		if err := step(res); err != nil {
			return err
		}
	}
	if err := h.out.show(res); err != nil {
		return err
	}
	if !res.Equal {
		return shown{&formats.Error{Op: "demo", At: folder, Err: errors.New("a store that came back is not the one that left")}}
	}
	return nil
}

// there makes text of a chat store.
func (t tour) there(res *demoResult) error {
	if err := t.lay("before.db", "chat/store.db"); err != nil {
		return err
	}
	if _, err := t.convert("chat/store.db", "monday", convert.Options{To: "archive"}); err != nil {
		return err
	}
	l, err := t.list("monday")
	res.Files, res.listed = l.names, l
	return err
}

// oneTurnLater makes text of the same store with one more turn, and compares.
func (t tour) oneTurnLater(res *demoResult) error {
	if err := t.lay("after.db", "chat/store.db"); err != nil {
		return err
	}
	if _, err := t.convert("chat/store.db", "tuesday", convert.Options{To: "archive"}); err != nil {
		return err
	}
	d, err := diffTrees(t.ctx, t.folder, "monday", "tuesday", t.out.getenv)
	if err != nil {
		return &formats.Error{Op: "demo", At: t.folder, Err: err}
	}
	res.shown = d
	res.Diff = demoDiff{Added: d.added, Removed: d.removed, Bytes: len(d.text)}
	return nil
}

// back makes a store of the text, and text of that store: the same text.
func (t tour) back(res *demoResult) error {
	report, err := t.convert("tuesday", "back/store.db", convert.Options{})
	if err != nil {
		return err
	}
	res.secret = report.Stores[0].Omitted
	if _, err := t.convert("back/store.db", "again", convert.Options{To: "archive"}); err != nil {
		return err
	}
	res.same, err = sameTrees(t.path("tuesday"), t.path("again"))
	return err
}

// whole does the same with the secrets in the text, where the store that comes
// back must hold every cell.
func (t tour) whole(res *demoResult) error {
	out, err := t.convert("chat/store.db", "private", convert.Options{To: "archive", WithSecrets: true})
	if err != nil {
		return err
	}
	back, err := t.convert("private", "whole/store.db", convert.Options{WithSecrets: true})
	if err != nil {
		return err
	}
	res.sets = back.Stores[0].Sets
	res.whole = slices.EqualFunc(out.Stores[0].Sets, res.sets, func(a, b convert.SetReport) bool {
		return a.Table == b.Table && a.Rows == b.Rows && a.Bytes == b.Bytes && a.Digest == b.Digest
	})
	res.Equal = res.same && res.whole
	return nil
}

// list is the files below a folder of the demo, or a file, with their sizes.
func (t tour) list(name string) (l listing, err error) {
	err = filepath.WalkDir(t.path(name), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(t.folder, path)
		l.add(listing{[]string{filepath.ToSlash(rel)}, []int64{info.Size()}})
		return err
	})
	return l, err
}

func (t tour) path(name string) string { return filepath.Join(t.folder, filepath.FromSlash(name)) }

// lay puts a store of the sample where a client would have it.
func (t tour) lay(sample, name string) error {
	b, err := chat.Stores.ReadFile(sample)
	if err != nil {
		return err
	}
	return t.write(name, b)
}

func (t tour) write(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(t.path(name)), 0o755); err != nil {
		return &formats.Error{Op: "demo", Err: err}
	}
	return os.WriteFile(t.path(name), b, 0o644)
}

func (t tour) convert(src, dst string, o convert.Options) (*convert.Report, error) {
	if dst != "" {
		dst = t.path(dst)
	}
	report, err := convert.Convert(t.ctx, t.reg, t.path(src), dst, o)
	if err != nil {
		return nil, err
	}
	return report, reportError(report, nil)
}

// sameTrees reports whether two folders hold the same files with the same
// bytes.
func sameTrees(a, b string) (bool, error) {
	left, err := readTree(a)
	if err != nil {
		return false, err
	}
	right, err := readTree(b)
	if err != nil || len(left) != len(right) {
		return false, err
	}
	for name, data := range left {
		if other, ok := right[name]; !ok || !bytes.Equal(data, other) {
			return false, nil
		}
	}
	return true, nil
}

// readTree reads every file of a folder; the demo's are small.
func readTree(folder string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[name], err = os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		return err
	})
	return out, err
}
