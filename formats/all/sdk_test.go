package all_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// trip carries a store from one of the SDK's formats into the other and
// returns what was told on the way.
type trip struct {
	residue  []store.SidecarItem // for the new store
	notes    []loss.Loss
	secrets  formats.SecretMode
	beside   []store.SidecarItem // beside the source
	cwd      string
	withheld int
	split    bool // a folder for each agent
}

func (tr *trip) carry(t *testing.T, from, to, src, dst string) {
	t.Helper()
	reg := all.Registry()
	l, err := formats.Locate(src)
	if err != nil {
		t.Fatal(err)
	}
	tell := func(it store.SidecarItem) { tr.residue = append(tr.residue, it) }
	note := func(n loss.Loss) { tr.notes = append(tr.notes, n) }
	v := formats.View{Kind: formats.SDKDocuments, Secrets: tr.secrets, Sidecar: tr.beside, OnLoss: note, Cwd: tr.cwd,
		OnOmit: func(it store.SidecarItem) { tr.withheld++; tell(it) }}
	if reg.Lookup(to).Text {
		v.OnLeftover = tell
	}
	r, err := reg.Lookup(from).Records.Open(t.Context(), l, v)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := reg.Lookup(to).Records.Create(t.Context(), formats.Build{Path: dst, Flat: !tr.split, Schema: r.Schema(), OnSidecar: tell, Leftover: tr.beside, WithSecrets: tr.secrets == formats.KeepSecrets, OnLoss: note})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Put(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p, ok := w.(formats.Parted); ok {
		for i, it := range tr.residue {
			tr.residue[i] = p.Part(it)
		}
	}
	// What convert will do before it places anything.
	want := r.Summary()
	l, err = formats.Locate(dst)
	if err != nil {
		t.Fatal(err)
	}
	again, err := reg.Lookup(to).Records.Open(t.Context(), l, formats.View{Kind: formats.SDKDocuments, Sidecar: tr.residue, OnLoss: func(n loss.Loss) {
		if n.Code.Stale() {
			t.Errorf("what was just written is called stale: %v", n)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	got := scan(t, again)
	if !slices.Equal(got, want) {
		t.Fatalf("%s -> %s: read again, the documents differ: %v, %v", from, to, want, got)
	}
	if len(again.Schema().Sets) != len(r.Schema().Sets) {
		t.Fatalf("%d sets became %d", len(r.Schema().Sets), len(again.Schema().Sets))
	}
}

func scan(t *testing.T, r store.Reader) store.Summary {
	t.Helper()
	for b, err := range r.Batches(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	return r.Summary()
}

// sameTables holds two SQLite stores against each other: schema, pragmas, and
// every cell by digest.
func sameTables(t *testing.T, a, b string) {
	t.Helper()
	var schemas [2]*store.Schema
	var sums [2]store.Summary
	for i, p := range []string{a, b} {
		l, err := formats.Locate(p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := all.Registry().Lookup("cursor-sdk").Records.Open(t.Context(), l, formats.View{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		schemas[i], sums[i] = r.Schema(), scan(t, r)
	}
	if len(schemas[0].Databases) != len(schemas[1].Databases) {
		t.Fatalf("%d databases became %d", len(schemas[0].Databases), len(schemas[1].Databases))
	}
	for i, d := range schemas[0].Databases {
		e := schemas[1].Databases[i]
		if d.Path != e.Path || d.Pragmas != e.Pragmas || !slices.Equal(d.Objects, e.Objects) {
			t.Errorf("database %+v became %+v", d, e)
		}
	}
	for i, s := range schemas[0].Sets {
		if u := schemas[1].Sets[i]; s.File != u.File || s.Name != u.Name {
			t.Fatalf("%s/%s became %s/%s", s.File, s.Name, u.File, u.Name)
		}
		if sums[0][i] != sums[1][i] {
			t.Errorf("%s/%s: %d rows became %d, or their cells differ", s.File, s.Name, sums[0][i].Rows, sums[1][i].Rows)
		}
	}
}

func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	for _, dirs := range [][2]string{{a, b}, {b, a}} {
		err := filepath.WalkDir(dirs[0], func(p string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() == ".gitattributes" { // for git, no part of a store
				return err
			}
			rel, _ := filepath.Rel(dirs[0], p)
			x, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			y, err := os.ReadFile(filepath.Join(dirs[1], rel))
			if err != nil {
				t.Errorf("%s: %v", rel, err)
			} else if string(x) != string(y) {
				i := 0
				for i < min(len(x), len(y)) && x[i] == y[i] {
					i++
				}
				t.Errorf("%s differs at byte %d: %.300q, %.300q", rel, i, x[max(0, i-80):], y[max(0, i-80):])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestGenuineStores(t *testing.T) {
	for name, src := range map[string]string{
		"gen": "sdk/gen/sqlite", "legacy": "sdk/legacy-1.0.14", "hot": "sdk/e2e-sqlite-hot-wal/projects/tmp-e2eout-ws",
		"hot root": "sdk/e2e-sqlite-hot-wal/projects/tmp-e2eout-ws/sdk-agent-store/5734498605caec2da8801a5b40f5caa8",
	} {
		t.Run(name, func(t *testing.T) {
			src := filepath.Join("..", "..", "testdata", src)
			dir := t.TempDir()
			there := trip{}
			there.carry(t, "cursor-sdk", "cursor-ndjson", src, filepath.Join(dir, "lines"))
			back := trip{beside: there.residue}
			back.carry(t, "cursor-ndjson", "cursor-sdk", filepath.Join(dir, "lines"), filepath.Join(dir, "back"))
			sameTables(t, src, filepath.Join(dir, "back"))
			bare := trip{}
			bare.carry(t, "cursor-ndjson", "cursor-sdk", filepath.Join(dir, "lines"), filepath.Join(dir, "bare"))
			if len(there.notes) > 0 && name != "legacy" {
				t.Errorf("notes: %v", there.notes)
			}
			t.Logf("%d items of residue", len(there.residue))
		})
	}
	for name, src := range map[string]string{"gen": "sdk/gen/jsonl", "e2e": "sdk/e2e-jsonl"} {
		t.Run(name+" lines", func(t *testing.T) {
			src := filepath.Join("..", "..", "testdata", src)
			dir := t.TempDir()
			there := trip{}
			there.carry(t, "cursor-ndjson", "cursor-sdk", src, filepath.Join(dir, "db"))
			back := trip{beside: there.residue}
			back.carry(t, "cursor-sdk", "cursor-ndjson", filepath.Join(dir, "db"), filepath.Join(dir, "back"))
			sameFiles(t, src, filepath.Join(dir, "back"))
			if len(there.residue)+len(there.notes) > 0 {
				t.Errorf("residue %v, notes %v", there.residue, there.notes)
			}
		})
	}
}
