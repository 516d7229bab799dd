package cursorndjson

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func opened(t *testing.T, dir string, v formats.View) store.Reader {
	t.Helper()
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(t.Context(), l, v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Whatever bytes the files hold, the records say exactly them.
func TestAnyBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		files := map[string]string{}
		for _, name := range []string{"agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson", "agent-transcripts/a/a.jsonl", "agent-transcripts/a-b"} {
			if r.IntN(4) == 0 {
				continue
			}
			n := r.IntN(200)
			if r.IntN(10) == 0 {
				n = store.PieceBytes + r.IntN(100) - 50
			}
			b := make([]byte, n)
			for i := range b {
				b[i] = "{}\"a\n\r\x00\xffé"[r.IntN(10)]
			}
			files[name] = string(b)
		}
		if len(files) == 0 {
			continue
		}
		src := folder(t, files)
		in := opened(t, src, formats.View{})
		dst := filepath.Join(t.TempDir(), "copy")
		out, err := create(t.Context(), formats.Build{Path: dst, Flat: true, Schema: in.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range in.Batches(t.Context()) {
			if err == nil {
				err = out.Put(t.Context(), b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(out.Finish(t.Context()), out.Close(), in.Close()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson", "agent-transcripts/a/a.jsonl", "agent-transcripts/a-b"} {
			b, err := os.ReadFile(filepath.Join(dst, filepath.FromSlash(name)))
			if want, there := files[name]; there != (err == nil) || string(b) != want {
				t.Fatalf("%s: %d bytes became %d, %v", name, len(want), len(b), err)
			}
		}
	}
}

func TestRecords(t *testing.T) {
	dir := folder(t, map[string]string{"agents.ndjson": "\ufeff{}\n\n{\"a\":1}\r\ntorn", "runs.ndjson": "", "checkpoints.ndjson": "x\n"})
	r := opened(t, dir, formats.View{})
	defer r.Close()
	want := []struct {
		set   int
		id    int64
		class store.Class
		text  string
	}{
		{0, 1, store.Text, "\ufeff{}"}, {0, 2, store.Text, ""}, {0, 3, store.Text, "{\"a\":1}\r"}, {0, 4, store.Blob, "torn"},
		{1, 1, store.Blob, ""}, {3, 1, store.Text, "x"},
	}
	n := 0
	for rec, err := range store.Records(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		w := want[n]
		if c := rec.Cell(0); rec.Set() != w.set || rec.RowID() != w.id || c.Class != w.class || string(c.Bytes()) != w.text {
			t.Errorf("record %d: set %d line %d %v %q, want %+v", n, rec.Set(), rec.RowID(), c.Class, c.Bytes(), w)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d records, want %d", n, len(want))
	}
}

func TestRefusals(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no such file":        {"notes.txt": "x"},
		"a folder for a file": {"agents.ndjson/x": "x"},
	} {
		dir := folder(t, files)
		l, err := formats.Locate(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := open(t.Context(), l, formats.View{})
		if err == nil {
			for _, err = range r.Batches(t.Context()) {
				break
			}
			r.Close()
		}
		if fe := (*formats.Error)(nil); !errors.As(err, &fe) || fe.At == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := folder(t, map[string]string{"runs.ndjson": "{}\n"})
	if err := os.Symlink(outside, filepath.Join(dir, "agents.ndjson")); err != nil {
		t.Fatal(err)
	}
	r := opened(t, dir, formats.View{})
	defer r.Close()
	for b, err := range r.Batches(t.Context()) {
		if err == nil {
			b.Release()
			t.Fatal("a link out of the store was followed")
		}
	}
}

func TestChangedWhileRead(t *testing.T) {
	dir := folder(t, map[string]string{"agents.ndjson": "{}\n"})
	r := opened(t, dir, formats.View{})
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
		if err := os.WriteFile(filepath.Join(dir, "agents.ndjson"), []byte("{}\n{}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); !errors.Is(err, formats.ErrBusy) {
		t.Errorf("closing says %v, want that it changed", err)
	}
}

// Lines that go to another text leave their secrets at home.
func TestSecrets(t *testing.T) {
	dir := folder(t, map[string]string{"agents.ndjson": `{"agentId":"a","sdkMetadata":{"blobEncryptionKey":"5ec7"}}` + "\n" + `{"agentId":"b"}` + "\n" + `torn "blobEncryptionKey":"5ec7`})
	var notes []loss.Loss
	var left []store.SidecarItem
	r := opened(t, dir, formats.View{Secrets: formats.WithholdSecrets, OnLoss: func(n loss.Loss) { notes = append(notes, n) }, OnLeftover: func(it store.SidecarItem) { left = append(left, it) }})
	defer r.Close()
	var got []string
	for rec, err := range store.Records(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(rec.Cell(0).Bytes()))
	}
	if len(got) != 2 || got[0] != `{"agentId":"a","sdkMetadata":{}}` || got[1] != `{"agentId":"b"}` {
		t.Errorf("%q", got)
	}
	if len(notes) != 2 || len(left) != 2 || left[0].At.Line != 1 || left[1].At.Line != 3 {
		t.Errorf("notes %v, residue %v", notes, left)
	}
}

func TestProbe(t *testing.T) {
	line := `{"agentId":"a","cwd":"/w","status":"idle"}`
	for name, c := range map[string]struct {
		files map[string]string
		want  int
	}{
		"one file":      {map[string]string{"agents.ndjson": line + "\n"}, 84},
		"without LF":    {map[string]string{"agents.ndjson": line}, 84},
		"two files":     {map[string]string{"agents.ndjson": line + "\n", "runs.ndjson": `{"runId":"r","agentId":"a","turnNumber":1}` + "\n"}, 88},
		"another's":     {map[string]string{"agents.ndjson": `{"id":1}` + "\n"}, 0},
		"an archive":    {map[string]string{"agents.ndjson": line, "manifest.json": "{}"}, 0},
		"of the second": {map[string]string{"agents.ndjson": "{}\n" + line}, 0},
		"all empty":     {map[string]string{"agents.ndjson": "", "runs.ndjson": "", "run_events.ndjson": "", "checkpoints.ndjson": ""}, 60},
		"three empty":   {map[string]string{"agents.ndjson": "", "runs.ndjson": "", "run_events.ndjson": ""}, 0},
		"with git's":    {map[string]string{"agents.ndjson": line + "\n", ".gitattributes": "x\n", ".DS_Store": ""}, 84},
	} {
		l, err := formats.Locate(folder(t, c.files))
		if err != nil {
			t.Fatal(err)
		}
		m, err := probe(context.Background(), l)
		if err != nil || m.Score != c.want || (c.want > 0) != (len(m.Evidence) > 0) {
			t.Errorf("%s: %+v, %v, want %d", name, m, err, c.want)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	for name, b := range map[string]formats.Build{
		"tables":     {Schema: &store.Schema{Sets: []store.Set{{Name: "t", Columns: []string{"a"}}}}},
		"no sets":    {Schema: &store.Schema{}},
		"compressed": {Schema: &store.Schema{}, Compress: "zstd"},
	} {
		b.Path = filepath.Join(t.TempDir(), "x")
		w, err := create(t.Context(), b)
		if err == nil {
			w.Close()
		}
		if err == nil || formats.Hint(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStopsWithinTranscript: a consumer that stops between the pieces of a transcript is
// not called again.
func TestStopsWithinTranscript(t *testing.T) {
	const name = "agent-transcripts/a/a.jsonl"
	dir := folder(t, map[string]string{"agents.ndjson": "{}\n", name: strings.Repeat("x", 2*store.PieceBytes)})
	r := opened(t, dir, formats.View{})
	defer r.Close()
	pieces := 0
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		file := r.Schema().Sets[b.Set].File
		if b.Release(); file == name {
			pieces++
			break
		}
	}
	if pieces != 1 {
		t.Errorf("%d pieces", pieces)
	}
}

// TestAttributesNotWritten: a folder whose lines git would change is not complete.
func TestAttributesNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	schema := &store.Schema{Origin: "cursor-sdk"}
	for _, file := range []string{"agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson"} {
		schema.Sets = append(schema.Sets, store.Set{File: file, Kind: store.Lines, Columns: []string{"json"}})
	}
	w, err := create(t.Context(), formats.Build{Path: path, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := os.Mkdir(filepath.Join(path, ".gitattributes"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(t.Context()); err == nil {
		t.Error("finished without .gitattributes")
	}
}
