// Package hometest is what every home of cursor-ndjson stores must pass.
package hometest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/internal/fsx"
	"rehome/testdata/faults"
)

// Open returns a home of which nothing else knows.
type Open func(t *testing.T, name string) home.Home

const testdata = "../../../../testdata"

// Run runs all tests.
func Run(t *testing.T, open Open) {
	t.Run("samples", func(t *testing.T) { samples(t, open) })
	t.Run("sqlite", func(t *testing.T) { sqlite(t, open) })
	t.Run("faults", func(t *testing.T) { planted(t, open) })
	t.Run("lines", func(t *testing.T) { lines(t, open) })
	t.Run("replace", func(t *testing.T) { replace(t, open) })
	t.Run("sources", func(t *testing.T) { sources(t, open) })
}

// Same fails if a store does not come back as it is.
func Same(t *testing.T, h home.Home, path string) home.Placed {
	t.Helper()
	placed, err := h.Place(t.Context(), path, home.PlaceOptions{Replace: true, Progress: func(n, of int64) {
		if n > of {
			t.Errorf("%d of %d bytes", n, of)
		}
	}})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	Is(t, h, path)
	return placed
}

// Is fails if a home does not hold exactly the store at path.
func Is(t *testing.T, h home.Home, path string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "store")
	if err := h.Fetch(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if !fsx.SameTree(path, out) {
		t.Errorf("%s: differs from what was placed, see what else fails", path)
	}
	want, err := os.ReadFile(path + formats.SidecarSuffix)
	got, err2 := os.ReadFile(out + formats.SidecarSuffix)
	if errors.Is(err, fs.ErrNotExist) != errors.Is(err2, fs.ErrNotExist) || !bytes.Equal(want, got) {
		t.Errorf("%s: %d bytes of the sidecar, want %d", path, len(got), len(want))
	}
}

func samples(t *testing.T, open Open) {
	stores, _ := filepath.Glob(testdata + "/sdk/*/jsonl")
	h := open(t, "samples")
	for _, path := range append(stores, testdata+"/sdk/e2e-jsonl") {
		if placed := Same(t, h, path); placed.Documents < 10 {
			t.Errorf("%s: %+v", path, placed)
		}
	}
	if len(stores) < 2 {
		t.Errorf("%d stores", len(stores))
	}
}

// sqlite takes stores of SQLite files through a home, and makes the same files of what
// comes back.
func sqlite(t *testing.T, open Open) {
	h := open(t, "sqlite")
	for _, from := range []string{"gen/sqlite", "legacy-1.0.14", "e2e-sqlite-hot-wal/projects/tmp-e2eout-ws"} {
		dir := t.TempDir()
		to := func(src, dst, format string) string {
			dst = filepath.Join(dir, dst)
			rep, err := convert.Convert(t.Context(), all.Registry(), src, dst, convert.Options{To: format, Flat: format == "cursor-ndjson", WithSecrets: true})
			if err != nil || len(rep.Stores) == 0 {
				t.Fatal(from, err)
			}
			return dst
		}
		flat := to(filepath.Join(testdata, "sdk", from), "flat", "cursor-ndjson")
		if _, err := os.Stat(flat + formats.SidecarSuffix); err != nil {
			t.Fatal(err) // none of them is without
		}
		Same(t, h, flat)
		back := filepath.Join(dir, "back")
		if err := h.Fetch(t.Context(), back); err != nil {
			t.Fatal(err)
		}
		if !fsx.SameTree(to(flat, "want", "cursor-sdk"), to(back, "got", "cursor-sdk")) {
			t.Errorf("%s: other files", from)
		}
	}
}

func planted(t *testing.T, open Open) {
	catalog, err := faults.Load(testdata + "/faults")
	if err != nil {
		t.Fatal(err)
	}
	h, samples, n := open(t, "faults"), &faults.Samples{Dir: t.TempDir(), Testdata: testdata}, 0
	for _, f := range catalog {
		if f.Catalog != "ndjson" && f.Catalog != "secrets" || f.Sample != "ndjson" && f.Sample != "ndjson-play" && f.Sample != "ndjson-closed" {
			continue
		}
		dir, err := samples.Fresh(t.Context(), f.Sample)
		if err == nil {
			err = f.Plant(dir)
		}
		if err != nil {
			t.Fatal(f.Name, err)
		}
		n++
		if regular(t, dir) {
			Same(t, h, dir)
		} else if _, err := h.Place(t.Context(), dir, home.PlaceOptions{Replace: true}); err == nil {
			t.Errorf("%s: placed", f.Name)
		}
	}
	if n < 20 {
		t.Errorf("%d faults", n)
	}
}

// regular reports whether there is nothing but files and folders in a folder.
func regular(t *testing.T, dir string) bool {
	t.Helper()
	is := true
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		is = is && err == nil && (e.IsDir() || e.Type().IsRegular())
		return err
	})
	return err == nil && is
}

// lines places stores of lines in random order, of which some are damaged.
func lines(t *testing.T, open Open) {
	h, r := open(t, "lines"), rand.New(rand.NewPCG(1, 2))
	ids := []string{`a`, `"; drop table agents; --`, `'`, `\`, `%`, `:`, `é`, "\u2028", `\u0000`, `\ud800`, `\ud83d\ude00`, strings.Repeat("x", 1001), strings.Repeat("é", 500), ``, `{}`, `*`, "\t"}
	for i := range 12 {
		dir := filepath.Join(t.TempDir(), "store")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		id := func() string {
			s := ids[r.IntN(len(ids))]
			if strings.HasPrefix(s, `\u`) || s == "" {
				return `"` + s + `"`
			}
			return fmt.Sprintf("%q", s)
		}
		for name, line := range map[string]func() string{
			"agents": func() string { return fmt.Sprintf(`{"agentId":%s,"cwd":%s,"updatedAt":%d}`, id(), id(), r.IntN(9)) },
			"runs": func() string {
				return fmt.Sprintf(`{"runId":%s,"agentId":%s,"turnNumber":%d,"status":%s}`, id(), id(), r.IntN(9), id())
			},
			"run_events": func() string {
				return fmt.Sprintf(`{"runId":%s,"seq":%d,"idempotencyKey":%s,"payload":%s}`, id(), r.IntN(9), id(), id())
			},
			"checkpoints": func() string { return fmt.Sprintf(`{"agentId":%s,"blobId":%s,"dataBase64":"AAAA"}`, id(), id()) },
		} {
			if r.IntN(8) == 0 {
				continue
			}
			var b strings.Builder
			for range r.IntN(300) {
				end := "\n"
				switch r.IntN(20) {
				case 0:
					end = "\r\n"
				case 1:
					end = "\n \n"
				case 2:
					end = " torn\n"
				case 3:
					end = "\xff\n"
				}
				b.WriteString(line() + end)
			}
			text := strings.Replace(b.String(), "{", "\ufeff{", r.IntN(2))
			if err := os.WriteFile(filepath.Join(dir, name+".ndjson"), []byte(text[:max(0, len(text)-r.IntN(3))]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if i%2 == 0 {
			big := bytes.Repeat([]byte("0123456789\x00\xff"), 200_000)
			if err := errors.Join(os.WriteFile(dir+formats.SidecarSuffix, big, 0o600), os.MkdirAll(dir+"/a b/c", 0o700),
				os.WriteFile(dir+"/a b/c/00000000", big, 0o600), os.WriteFile(dir+"/a b/empty", nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		Same(t, h, dir)
	}
}

func replace(t *testing.T, open Open) {
	h, one, two := open(t, "replace"), testdata+"/sdk/gen/jsonl", testdata+"/sdk/play/jsonl"
	if err := h.Fetch(t.Context(), filepath.Join(t.TempDir(), "x")); !errors.Is(err, fs.ErrNotExist) || formats.Hint(err) == "" || strings.Contains(err.Error(), "file") {
		t.Errorf("nothing there: %v", err)
	}
	if p, err := h.Place(t.Context(), one, home.PlaceOptions{}); err != nil || p.Backup != "" {
		t.Fatal(p, err)
	}
	if _, err := h.Place(t.Context(), two, home.PlaceOptions{}); !errors.Is(err, formats.ErrExists) || !strings.Contains(formats.Hint(err), "--replace") {
		t.Errorf("a second store: %v", err)
	}
	Is(t, h, one)
	p, err := h.Place(t.Context(), two, home.PlaceOptions{Replace: true})
	if err != nil || p.Backup == "" {
		t.Fatal(p, err)
	}
	q, err := h.Place(t.Context(), one, home.PlaceOptions{Replace: true})
	if err != nil || q.Backup == "" || q.Backup == p.Backup {
		t.Fatal(p, q, err)
	}
	Is(t, h, one)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Place(ctx, two, home.PlaceOptions{Replace: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	Is(t, h, one)
}

// sources are folders that no home takes.
func sources(t *testing.T, open Open) {
	h, dir := open(t, "sources"), t.TempDir()
	file, link, split := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "split")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(link, 0o700), os.Symlink(file, filepath.Join(link, "agents.ndjson")),
		os.Mkdir(split, 0o700), os.WriteFile(filepath.Join(split, "rehome.json"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, split, filepath.Join(dir, "none")} {
		if _, err := h.Place(t.Context(), path, home.PlaceOptions{}); err == nil {
			t.Errorf("%s was placed", path)
		}
		if err := h.Fetch(t.Context(), filepath.Join(t.TempDir(), "x")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after %s: %v", path, err)
		}
	}
}
