package check_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/rule"
)

// TestHostileStores: whatever bytes a store is of, there is a finding or an
// error, in good time and little memory.
func TestHostileStores(t *testing.T) {
	const id = "5d0b2b7e-1111-4000-8000-000000000001"
	deep := strings.Repeat("[", 1<<20)
	rows := func(s string) string { return `{"agentId":"agent-1","cwd":"/a","status":"idle","x":` + s + "}\n" }
	entry := func(s string) string {
		return `{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"` + id + `","sessionId":"` + id + `","message":{"role":"user","content":` + s + "}}\n"
	}
	event := func(s string) string {
		return `{"type":"system","subtype":"init","session_id":"` + id + `","cwd":` + s + "}\n"
	}
	head := `{"type":"session","version":1,"id":"a","agent":"x","title":`
	hostile := map[string]string{"number": "1e5000000", "small": "1e-5000000", "digits": strings.Repeat("9", 1<<20), "deep": deep, "long": `"` + strings.Repeat("x", 2<<20) + `"`, "zero": strings.Repeat("\x00", 1<<20), "torn": `"\ud8`, "members": `{` + strings.Repeat(`"a":1,`, 1<<16) + `"a":1}`}
	for name, s := range hostile {
		for kind, files := range map[string]map[string]string{
			"ndjson":     {"agents.ndjson": rows("1") + rows(s), "runs.ndjson": s, "run_events.ndjson": "\n" + s + "\n", "checkpoints.ndjson": `{"agentId":"agent-1","blobId":"00","dataBase64":` + s + "}\n"},
			"claude":     {"projects/-a/" + id + ".jsonl": entry(`"x"`) + entry(s)},
			"stream":     {"a.jsonl": event(`"/a"`) + event(s)},
			"canonical":  {"a.jsonl": head + `"x"}` + "\n" + head + s + "}\n"},
			"archive":    {"manifest.json": `{"rehome":"archive","version":1,"origin":` + s + "}", "meta.ndjson": s},
			"transcript": {"agent-transcripts/" + id + "/" + id + ".jsonl": `{"role":"user","message":{"content":[{"type":"text","text":"x"}]}}` + "\n" + `{"role":"user","message":` + s + "}\n"},
			"schema":     {"a.jsonl": s + "\n"},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) { examine(t, kind, files) })
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		b := append([]byte("SQLite format 3\x00"), make([]byte, 8192)...)
		for k := 16; k < len(b); k++ {
			b[k] = byte(random.UintN(256))
		}
		copy(b[16:], []byte{16, 0, 1, 1, 0, 64, 32, 32})
		if i%2 == 0 {
			copy(b[28:], []byte{0x7f, 0xff, 0xff, 0xff})
		}
		t.Run(fmt.Sprint("sqlite/", i), func(t *testing.T) {
			examine(t, "sqlite", map[string]string{"store.db": string(b), "state.vscdb": string(b), "sdk/index.db": string(b), "sdk/agents/x/store.db": string(b[:100+i])})
		})
	}
}

// TestZipBombs: what is packed a thousandfold is not unpacked to its end.
func TestZipBombs(t *testing.T) {
	var bomb bytes.Buffer
	z, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(z, zeros{}, 600<<20); err != nil {
		t.Fatal(err)
	}
	z.Close()
	dir := t.TempDir()
	_, err = convert.Convert(t.Context(), all.Registry(), "../../testdata/chat/after.db", filepath.Join(dir, "chat"), convert.Options{To: "archive", Sidecar: "none", Compress: "gzip"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "chat", "records.ndjson.gz"), bomb.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl.gz"), bomb.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	lay(t, dir, map[string]string{"agent-transcripts/x.jsonl": bomb.String(), "projects/-a/5d0b2b7e-1111-4000-8000-000000000001.jsonl": bomb.String(), "agents.ndjson": bomb.String()})
	within(t, dir, "archive")
}

// zeros is a file without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func examine(t *testing.T, kind string, files map[string]string) {
	dir := t.TempDir()
	lay(t, dir, files)
	within(t, dir, kind)
}

// within checks a folder with every layer, and wants something to be said of it.
func within(t *testing.T, dir, kind string) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever the tests run with
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before) // what earlier tests have taken
	o := check.Options{Paths: []string{dir}, Layers: everything | rule.Secrets, For: "claude-code"}
	r, err := check.Check(t.Context(), all.Registry(), o)
	if kind == "schema" {
		o = check.Options{Paths: []string{dir}}
		r, err = check.Schema(t.Context(), o, "canonical-1")
	}
	if err != nil {
		t.Fatal(err)
	}
	said := false
	for _, s := range r.Stores {
		said = said || s.Err != nil || len(s.Findings) > 0
	}
	if !said {
		t.Error("nothing is said of it")
	}
	if runtime.ReadMemStats(&after); after.Sys-before.Sys > 1<<30 {
		t.Errorf("%d MB of memory", (after.Sys-before.Sys)>>20)
	}
}

// TestMovingStores: stores that grow, go and come while they are examined are
// no crash.
func TestMovingStores(t *testing.T) {
	known := &samples{dir: t.TempDir()}
	dir := t.TempDir()
	var at []string
	for i, name := range []string{"chat", "ndjson", "claude", "transcripts", "archive", "sdk-closed"} {
		to := filepath.Join(dir, fmt.Sprint(i))
		if err := os.CopyFS(to, os.DirFS(known.fresh(t, name))); err != nil {
			t.Fatal(err)
		}
		filepath.WalkDir(to, func(path string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				at = append(at, path)
			}
			return nil
		})
	}
	done := make(chan struct{})
	var mover sync.WaitGroup
	mover.Go(func() {
		random := rand.New(rand.NewPCG(3, 4))
		for {
			select {
			case <-done:
				return
			default:
			}
			path := at[random.IntN(len(at))]
			switch b, err := os.ReadFile(path); {
			case err != nil:
			case random.IntN(2) == 0:
				os.Remove(path)
				os.WriteFile(path, b, 0o666)
			default:
				if f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err == nil {
					f.WriteString("{\"more\":1}\n")
					f.Close()
					os.WriteFile(path, b, 0o666)
				}
			}
		}
	})
	for range 10 {
		if _, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{dir}, Layers: everything | rule.Secrets}); err != nil {
			t.Error(err)
		}
	}
	close(done)
	mover.Wait()
}
