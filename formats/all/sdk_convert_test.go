package all_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
)

// become is one call of rehome convert.
func become(t *testing.T, src, dst string, o convert.Options) *convert.Report {
	t.Helper()
	rep, err := convert.Convert(t.Context(), all.Registry(), src, dst, o)
	if err != nil {
		t.Fatalf("%s -> %s: %v", filepath.Base(src), filepath.Base(dst), err)
	}
	if rep.Failed()+rep.Skipped() > 0 || !rep.Placed {
		t.Fatalf("%s -> %s: %+v", filepath.Base(src), filepath.Base(dst), rep)
	}
	return rep
}

// Residue travels through its file, and along when a store with residue is
// copied by another lane.
func TestSidecarTravels(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	whole := convert.Options{WithSecrets: true}
	lines, archive := whole, whole
	lines.To, lines.Flat, archive.To = "cursor-ndjson", true, "archive"
	randomLineStore(t, r, at("lines"))
	become(t, at("lines"), at("db"), whole)
	become(t, at("db"), at("lines2"), lines)
	sameFiles(t, at("lines"), at("lines2"))
	become(t, at("db"), at("archive"), archive)
	become(t, at("archive"), at("db2"), whole)
	become(t, at("db2"), at("lines3"), lines)
	sameFiles(t, at("lines"), at("lines3"))

	randomDatabases(t, r, at("root"))
	become(t, at("root"), at("rows"), lines)
	become(t, at("rows"), at("root2"), whole)
	sameTables(t, at("root"), at("root2"))
}

const planted = "5ec7e700d1e5" // a key; in hexadecimal and base64 it looks otherwise

// Without being asked, no secret gets into a text: not into lines, not into
// residue. The databases that come of it work without.
func TestSecretsStayHome(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	source := filepath.Join("..", "..", "testdata", "sdk", "gen")
	keys := []string{"blobEncryptionKey", "dac8d7e9189a1e7a", "8358f8d95c237c76", "37213afac7d006fa", "da4e1a4ffdb0d552"}
	rep := become(t, filepath.Join(source, "sqlite"), at("lines"), convert.Options{Flat: true, To: "cursor-ndjson"})
	if n := len(rep.Stores[0].Losses); n != 2 {
		t.Errorf("%d kinds of losses, want the keys of agents and of meta: %+v", n, rep.Stores[0].Losses)
	}
	holdNothing(t, dir, "", keys)
	rep = become(t, at("lines"), at("db"), convert.Options{})
	if rep.Stores[0].Omitted != 4 {
		t.Errorf("%d secrets are said to be missing, want 4", rep.Stores[0].Omitted)
	}
	holdNothing(t, dir, ".ndjson", keys)
	become(t, at("db"), at("lines2"), convert.Options{Flat: true, To: "cursor-ndjson"})
	sameFiles(t, at("lines"), at("lines2"))

	// Lines that hold keys where no row has room for them.
	if err := os.Mkdir(at("odd"), 0o755); err != nil {
		t.Fatal(err)
	}
	odd := `{"agentId":"a","sdkMetadata":{"blobEncryptionKey":"` + planted + `","k":1},"x":1}` + "\n" +
		`{"agentId":"a","sdkMetadata":{"k":1,"blobEncryptionKey":"` + planted + `"}}` + "\n" +
		`{"agentId":"b","x":{"blobEncryptionKey":"` + planted + `"}}` + "\n" +
		`torn: "blobEncryptionKey":"` + planted + "\n"
	if err := os.WriteFile(filepath.Join(at("odd"), "agents.ndjson"), []byte(odd), 0o644); err != nil {
		t.Fatal(err)
	}
	become(t, at("odd"), at("odd-db"), convert.Options{From: "cursor-ndjson"})
	if b, err := os.ReadFile(at("odd-db.sidecar.ndjson")); err != nil || bytes.Contains(b, []byte(planted)) || bytes.Count(b, []byte("\n")) != 5 {
		t.Errorf("residue %s, %v", b, err)
	}
	become(t, at("odd-db"), at("odd-lines"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	b, err := os.ReadFile(filepath.Join(at("odd-lines"), "agents.ndjson"))
	want := strings.SplitAfter(odd, "\n")[0] + `{"agentId":"a","sdkMetadata":{"k":1}}` + "\n" + `{"agentId":"b","x":{}}` + "\n\n"
	if err != nil || string(b) != want {
		t.Errorf("without the keys that stayed home: %s, %v, want %s", b, err, want)
	}
}

// holdNothing looks for strings in all text files whose names end so.
func holdNothing(t *testing.T, dir, ending string, secrets []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(p, ending) {
			return err
		}
		b, err := os.ReadFile(p)
		for _, s := range secrets {
			for _, spelled := range []string{s, hexOf(s)} {
				if bytes.Contains(b, []byte(spelled)) {
					t.Errorf("%s holds %s", p, s)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func hexOf(s string) string {
	const digits = "0123456789abcdef"
	var out []byte
	for _, c := range []byte(s) {
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}

// An edit makes the residue of that record stale, and of no other.
func TestStaleSidecar(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("lines"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := `{"agentId":"a","cwd":"/w","x":1}` + "\n" + `{"agentId":"b","cwd":"/w","y":2}` + "\n"
	if err := os.WriteFile(filepath.Join(at("lines"), "agents.ndjson"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	become(t, at("lines"), at("db"), convert.Options{From: "cursor-ndjson"})
	run(t, filepath.Join(at("db"), "index.db"), "UPDATE agents SET name='renamed' WHERE agent_id='a'")
	rep := become(t, at("db"), at("after"), convert.Options{Flat: true, To: "cursor-ndjson"})
	b, err := os.ReadFile(filepath.Join(at("after"), "agents.ndjson"))
	if err != nil || !strings.Contains(string(b), `"name":"renamed"`) || strings.Contains(string(b), `"x":1`) || !strings.HasSuffix(string(b), `{"agentId":"b","cwd":"/w","y":2}`+"\n") {
		t.Errorf("%s, %v", b, err)
	}
	stale := 0
	for _, l := range rep.Stores[0].Losses {
		if l.Code.Stale() {
			stale += int(l.Count)
		}
	}
	if stale != 1 {
		t.Errorf("%d stale pieces, want 1: %+v", stale, rep.Stores[0].Losses)
	}

	// The other way: a cell told of a line that says something else by now.
	become(t, filepath.Join("..", "..", "testdata", "sdk", "legacy-1.0.14"), at("old"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	file := filepath.Join(at("old"), "agents.ndjson")
	if b, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(b, []byte("Old agent"), []byte("New name"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	become(t, at("old"), at("old-db"), convert.Options{})
	become(t, at("old-db"), at("old2"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	sameFiles(t, at("old"), at("old2"))
}

// A program finds its agents by the folder it works in.
func TestAnotherFolder(t *testing.T) {
	dir := t.TempDir()
	const cwd = "/home/dev/elsewhere é"
	for name, src := range map[string]string{"db": "gen/sqlite", "lines": "gen/jsonl"} {
		src := filepath.Join("..", "..", "testdata", "sdk", filepath.FromSlash(src))
		to := map[string]string{"db": "cursor-ndjson", "lines": "cursor-sdk"}[name]
		rep := become(t, src, filepath.Join(dir, name), convert.Options{Flat: to == "cursor-ndjson", To: to, Cwd: cwd, WithSecrets: true})
		if l := rep.Stores[0].Losses; len(l) != 1 || l[0].Kind != loss.Reshaped || l[0].Count != 2 {
			t.Errorf("losses %+v", l)
		}
		become(t, filepath.Join(dir, name), filepath.Join(dir, name+"2"), convert.Options{Flat: name == "lines", To: map[string]string{"db": "cursor-sdk", "lines": "cursor-ndjson"}[name], WithSecrets: true})
	}
	b, err := os.ReadFile(filepath.Join(dir, "lines2", "agents.ndjson"))
	c, err2 := os.ReadFile(filepath.Join(dir, "db", "agents.ndjson"))
	if err != nil || err2 != nil || !bytes.Equal(b, c) || bytes.Count(b, []byte(`"cwd":"`+cwd+`"`)) != 2 {
		t.Errorf("%s\n%s", b, c)
	}
	if _, err := convert.Convert(t.Context(), all.Registry(), filepath.Join("..", "..", "testdata", "sdk", "gen", "sqlite"), filepath.Join(dir, "no"), convert.Options{To: "archive", Cwd: cwd}); formats.Hint(err) == "" {
		t.Errorf("an archive was given another folder: %v", err)
	}
}

// What the SDK writes as lines is what we make of what it writes as rows.
func TestSameAsTheSDK(t *testing.T) {
	dir := t.TempDir()
	gen := filepath.Join("..", "..", "testdata", "sdk", "gen")
	become(t, filepath.Join(gen, "sqlite"), filepath.Join(dir, "lines"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	sameFiles(t, filepath.Join(gen, "jsonl"), filepath.Join(dir, "lines"))
}

// TestNamesWhatIsMadeAnew: without its residue a store comes back whole as far
// as the client goes, and what is not restored is named; with it nothing is.
func TestNamesWhatIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if _, err := convert.Convert(t.Context(), all.Registry(), "../../testdata/sdk/legacy-1.0.14", text, convert.Options{Flat: true, To: "cursor-ndjson"}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true} {
		said := ""
		o := convert.Options{To: "cursor-sdk", OnNotice: func(s string) { said += s + "\n" }}
		if _, err := convert.Convert(t.Context(), all.Registry(), text, filepath.Join(dir, "back"+strings.Repeat("-", i)), o); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(said, "are generated again: row ids"); got != want {
			t.Errorf("residue taken away: %v, said: %q", want, said)
		}
		if err := os.Remove(text + ".sidecar.ndjson"); err != nil && !want {
			t.Fatal(err)
		}
	}
}
