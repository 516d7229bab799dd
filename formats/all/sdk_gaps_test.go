package all_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
)

var samples = filepath.Join("..", "..", "testdata", "sdk")

// lay writes files below a folder.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o777), os.WriteFile(p, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// lossesLike are how often something was said of the first store's losses.
func lossesLike(rep *convert.Report, codes ...loss.Code) (n int64) {
	for _, l := range rep.Stores[0].Losses {
		if slices.Contains(codes, l.Code) {
			n += l.Count
		}
	}
	return n
}

// The transcripts go where the SDK keeps them, and travel with the project
// folder again.
func TestTranscriptsBesideTheStore(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	project := filepath.Join(samples, "e2e-sqlite-hot-wal", "projects", "tmp-e2eout-ws")
	become(t, project, at("lines"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	lay(t, at("lines/agent-transcripts"), map[string]string{"p/p.jsonl": "{}\n", "p/subagents/c.jsonl": "{}\n", "flat.txt": "", ".DS_Store": "x", "p/Thumbs.db": "x"})
	rep := become(t, at("lines"), "", convert.Options{To: "cursor-sdk", Cwd: "/home/dev/Pröjekt", Home: at("home"), WithSecrets: true})
	placed := at("home/.cursor/projects/home-dev-Pr-jekt")
	if filepath.Dir(filepath.Dir(rep.Target)) != placed {
		t.Errorf("placed at %s", rep.Target)
	}
	if _, err := os.Lstat(filepath.Join(rep.Target, "agent-transcripts")); err == nil {
		t.Error("transcripts are in the state root")
	}
	for _, noise := range []string{".DS_Store", "p/Thumbs.db"} {
		if _, err := os.Lstat(filepath.Join(placed, "agent-transcripts", filepath.FromSlash(noise))); err == nil {
			t.Errorf("%s was carried", noise)
		}
		os.Remove(filepath.Join(at("lines/agent-transcripts"), filepath.FromSlash(noise)))
	}
	sameFiles(t, at("lines/agent-transcripts"), filepath.Join(placed, "agent-transcripts"))
	become(t, placed, at("again"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	sameFiles(t, filepath.Join(placed, "agent-transcripts"), at("again/agent-transcripts"))

	// The residue lies beside the state root, and belongs to the project.
	odd := `{"agentId":"a","cwd":"/w","status":"idle","x":1}` + "\r\n"
	lay(t, at("odd"), map[string]string{"agents.ndjson": odd, "agent-transcripts/a/a.jsonl": "{}\n"})
	become(t, at("odd"), "", convert.Options{To: "cursor-sdk", Cwd: "/w", Home: at("home")})
	become(t, at("home/.cursor/projects/w"), at("odd2"), convert.Options{Flat: true, To: "cursor-ndjson"})
	sameFiles(t, at("odd"), at("odd2"))
}

// Residue whose line, table or database is gone is named, with its place.
func TestSidecarOfWhatIsGone(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	become(t, filepath.Join(samples, "legacy-1.0.14"), at("lines"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	residue := content(t, at("lines.sidecar.ndjson"))
	for name, gone := range map[string]string{"runs.ndjson": "index.db/runs", "checkpoints.ndjson": "/store.db/meta"} {
		old := content(t, at("lines/"+name))
		lay(t, at("lines"), map[string]string{name: ""})
		rep := become(t, at("lines"), at("db-"+name), convert.Options{To: "cursor-sdk", WithSecrets: true})
		found := ""
		for _, l := range rep.Stores[0].Losses {
			if l.Code.Stale() {
				found += strings.Join(l.Places, " ")
			}
		}
		if !strings.Contains(found, gone) {
			t.Errorf("without %s: stale at %q, want %s", name, found, gone)
		}
		lay(t, at("lines"), map[string]string{name: old})
	}
	// Of another store: its own place, its own rows.
	foreign := strings.ReplaceAll(regexp.MustCompile(`,"sum":"[0-9a-f]+"`).ReplaceAllString(residue, ""), `"file":"`, `"file":"sdk-agent-store/0123/`)
	lay(t, dir, map[string]string{"lines.sidecar.ndjson": residue + strings.SplitN(foreign, "\n", 2)[1]})
	var first *convert.Report
	for i := range 8 {
		rep := become(t, at("lines"), at(fmt.Sprintf("two-%d", i)), convert.Options{To: "cursor-sdk", WithSecrets: true})
		if n := lossesLike(rep, loss.StaleForeign); n == 0 {
			t.Errorf("foreign residue is not named: %+v", rep.Stores[0].Losses)
		}
		if _, err := os.Stat(at(fmt.Sprintf("two-%d/index.db", i))); err != nil {
			t.Errorf("run %d chose another root: %v", i, err)
		}
		if first == nil {
			first = rep
		}
		if !reflect.DeepEqual(first.Stores[0].Losses, rep.Stores[0].Losses) {
			t.Errorf("the same input, another report: %+v, %+v", first.Stores[0].Losses, rep.Stores[0].Losses)
		}
	}
	sameTables(t, filepath.Join(samples, "legacy-1.0.14"), at("two-0"))
	// Beside databases: residue that is of databases; beside lines, of lines.
	lay(t, dir, map[string]string{"two-0.sidecar.ndjson": residue})
	rep := become(t, at("two-0"), at("lines2"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	if n := lossesLike(rep, loss.StaleForeign); n != int64(strings.Count(residue, "\n")-1) {
		t.Errorf("%d pieces are named: %+v", n, rep.Stores[0].Losses)
	}
	lay(t, dir, map[string]string{"lines.sidecar.ndjson": strings.SplitAfter(residue, "\n")[0] + `{"at":{"file":"runs.ndjson","set":"","line":1},"row":[{"text":"x"}]}` + "\n" +
		`{"at":{"file":"agents.ndjson","set":"","line":99},"row":[{"withheld":true}]}` + "\n"})
	rep = become(t, at("lines"), at("db"), convert.Options{To: "cursor-sdk"})
	if n := lossesLike(rep, loss.StaleDatabase, loss.StaleGone); n != 2 || rep.Stores[0].Omitted != 0 {
		t.Errorf("%d pieces are named, %d secrets missing: %+v", n, rep.Stores[0].Omitted, rep.Stores[0].Losses)
	}
}

// Text to text hands the residue on that only databases need.
func TestSidecarHandedOn(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	source := filepath.Join(samples, "legacy-1.0.14")
	become(t, source, at("a"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	become(t, at("a"), at("b"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	become(t, at("b"), at("db"), convert.Options{To: "cursor-sdk", WithSecrets: true})
	sameTables(t, source, at("db"))
	gen := filepath.Join(samples, "gen", "sqlite")
	become(t, gen, at("c"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	rep := become(t, at("c"), at("d"), convert.Options{Flat: true, To: "cursor-ndjson"})
	for _, key := range []string{"dac8d7e9189a1e7a", "8358f8d95c237c76", "37213afac7d006fa", "da4e1a4ffdb0d552"} {
		holdNothing(t, at("d"), "", []string{key})
		if b, _ := os.ReadFile(at("d.sidecar.ndjson")); strings.Contains(string(b), key) || strings.Contains(string(b), hexOf(key)) {
			t.Errorf("a key went on in the residue")
		}
	}
	if lossesLike(rep, loss.SidecarWithSecret) == 0 {
		t.Errorf("what stayed home is not named: %+v", rep.Stores[0].Losses)
	}
}

// A dry run says what the real run says, and decides as it decides.
func TestDryRunIsTheRun(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 21))
		dir := t.TempDir()
		src := filepath.Join(dir, "lines")
		randomLineStore(t, r, src)
		for _, allow := range []loss.Kind{loss.Reshaped, loss.Dropped} {
			o := convert.Options{From: "cursor-ndjson", To: "cursor-sdk", Allow: allow, WithSecrets: seed%2 == 0, DryRun: true}
			dry, err := convert.Convert(t.Context(), all.Registry(), src, filepath.Join(dir, "db"), o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(filepath.Join(dir, "db")); err == nil {
				t.Error("a dry run made the target")
			}
			o.DryRun = false
			wet, err := convert.Convert(t.Context(), all.Registry(), src, filepath.Join(dir, "db"), o)
			if err != nil {
				t.Fatal(err)
			}
			a, b := dry.Stores[0], wet.Stores[0]
			if b.Status == convert.Placed {
				b.Status = convert.Checked
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("seed %d, allowed %v: dry\n%+v\nwet\n%+v", seed, allow, a, b)
			}
			os.RemoveAll(filepath.Join(dir, "db"))
			os.Remove(filepath.Join(dir, "db.sidecar.ndjson"))
		}
	}
}

// Without residue its limit does not bind.
func TestNoSidecarNoLimit(t *testing.T) {
	dir := t.TempDir()
	junk := strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 70)
	lay(t, dir, map[string]string{"lines/agents.ndjson": `{"agentId":"a","cwd":"/w","status":"idle"}` + "\n", "lines/runs.ndjson": junk})
	to := func(residue string) error {
		_, err := convert.Convert(t.Context(), all.Registry(), filepath.Join(dir, "lines"), filepath.Join(dir, "db"), convert.Options{To: "cursor-sdk", Sidecar: residue})
		return err
	}
	if err := to(""); err == nil || !strings.Contains(formats.Hint(err), "--sidecar none") {
		t.Errorf("%v, hint %q", err, formats.Hint(err))
	}
	if err := to("none"); err != nil {
		t.Error(err)
	}
}

// Git leaves the lines alone, and what it keeps beside them is no loss.
func TestGitAttributes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	strict := convert.Options{WithSecrets: true, Allow: loss.Reshaped}
	lines, rows := strict, strict
	lines.To, lines.Flat, rows.To = "cursor-ndjson", true, "cursor-sdk"
	become(t, filepath.Join(samples, "gen", "sqlite"), at("lines"), lines)
	if got := content(t, at("lines/.gitattributes")); got != "* -text\n" {
		t.Errorf("git is told %q", got)
	}
	become(t, at("lines"), at("db"), rows)
	become(t, at("db"), at("lines2"), lines)
	sameFiles(t, at("lines"), at("lines2"))
	if content(t, at("lines/.gitattributes")) != content(t, at("lines2/.gitattributes")) {
		t.Error("git is told something else")
	}
	for _, store := range []string{"lines2", "db"} {
		lay(t, at(store), map[string]string{".gitattributes": "*.db binary\n", ".gitignore": "x\n", ".DS_Store": "x", "desktop.ini": "x", "Thumbs.db": "x"})
	}
	rep := become(t, at("db"), at("lines3"), lines)
	become(t, at("db"), at("text"), convert.Options{To: "archive", Allow: loss.Reshaped, WithSecrets: true})
	sameFiles(t, at("lines"), at("lines3"))
	if len(rep.Stores[0].Losses) > 0 {
		t.Errorf("losses %+v", rep.Stores[0].Losses)
	}
	l, err := formats.Locate(at("lines2"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := all.Registry().Detect(t.Context(), l)
	if err != nil || len(found) == 0 || found[0].Format.Name != "cursor-ndjson" {
		t.Errorf("detected as %v, %v", found, err)
	}
	become(t, at("lines2"), at("db2"), rows)
	sameTables(t, at("db"), at("db2"))
	lay(t, dir, map[string]string{"empty/.gitattributes": "* -text\n"})
	become(t, at("empty"), at("nothing"), convert.Options{From: "cursor-ndjson", To: "cursor-sdk"})
}

// A file of CRLF is one thing that differs, not one a line; and a checkout that
// made its lines so still finds the residue of the databases.
func TestCarriageReturns(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	whole := func(to string) convert.Options {
		return convert.Options{Flat: to == "cursor-ndjson", To: to, WithSecrets: true}
	}
	source := filepath.Join(samples, "legacy-1.0.14")
	become(t, source, at("lines"), whole("cursor-ndjson"))
	for _, name := range []string{"agents", "runs", "run_events", "checkpoints"} {
		name += ".ndjson"
		lay(t, at("lines"), map[string]string{name: strings.ReplaceAll(content(t, at("lines/"+name)), "\n", "\r\n")})
	}
	rep := become(t, at("lines"), at("db"), whole("cursor-sdk"))
	sameTables(t, source, at("db"))
	if l := rep.Stores[0].Losses; len(l) != 1 || l[0].Kind != loss.Reshaped || l[0].Count != 4 {
		t.Errorf("losses %+v", l)
	}
	if n := strings.Count(content(t, at("db.sidecar.ndjson")), "\n"); n != 5 {
		t.Errorf("%d lines of residue, want a header and one a file", n)
	}
	become(t, at("db"), at("lines2"), whole("cursor-ndjson"))
	sameFiles(t, at("lines"), at("lines2"))

	// Some lines only; then one more than there were.
	line := `{"agentId":"%s","cwd":"/w","status":"idle","activeRunId":null,"name":null,"createdAt":1,"updatedAt":2,"sdkMetadata":{}}`
	text := fmt.Sprintf(line+"\r\n"+line+"\n\r\n"+line+"\r\n"+line+"\r", "a", "b", "c", "d")
	lay(t, dir, map[string]string{"odd/agents.ndjson": text})
	become(t, at("odd"), at("odd-db"), whole("cursor-sdk"))
	become(t, at("odd-db"), at("odd2"), whole("cursor-ndjson"))
	sameFiles(t, at("odd"), at("odd2"))
	run(t, filepath.Join(at("odd-db"), "index.db"), "INSERT INTO agents SELECT 'e', workspace_ref, status, active_run_id, latest_checkpoint_ref_json, name, metadata_json, created_at, updated_at FROM agents WHERE agent_id='a'")
	rep = become(t, at("odd-db"), at("odd3"), whole("cursor-ndjson"))
	if lossesLike(rep, loss.StaleLineEnds) != 1 {
		t.Errorf("losses %+v", rep.Stores[0].Losses)
	}
}

// The order of checkpoints is named where it cannot be had back.
func TestOrderIsStale(t *testing.T) {
	dir := t.TempDir()
	blob := func(agent, id string) string {
		return `{"agentId":"` + agent + `","blobId":"` + id + `","dataBase64":""}` + "\n"
	}
	lay(t, dir, map[string]string{"lines/checkpoints.ndjson": blob("a", "01") + blob("b", "02") + blob("a", "03")})
	become(t, filepath.Join(dir, "lines"), filepath.Join(dir, "db"), convert.Options{To: "cursor-sdk"})
	list, err := filepath.Glob(filepath.Join(dir, "db", "agents", "*"))
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	os.RemoveAll(list[0])
	rep := become(t, filepath.Join(dir, "db"), filepath.Join(dir, "again"), convert.Options{Flat: true, To: "cursor-ndjson"})
	if lossesLike(rep, loss.StaleOrder) != 1 {
		t.Errorf("losses %+v", rep.Stores[0].Losses)
	}
}

// What the SDK would stumble over is said.
func TestOddForTheSDK(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	lay(t, at("lines"), map[string]string{"agents.ndjson": `{"agentId":"a","cwd":"/w","status":"dreaming","activeRunId":null,"name":null,"createdAt":1,"updatedAt":2,"sdkMetadata":{}}` + "\n",
		"runs.ndjson": `{"runId":"r","agentId":"a","turnNumber":1,"status":"lost"}` + "\n"})
	rep := become(t, at("lines"), at("db"), convert.Options{To: "cursor-sdk"})
	if n := lossesLike(rep, loss.StatusUnknown); n != 2 {
		t.Errorf("%d statuses: %+v", n, rep.Stores[0].Losses)
	}
	lay(t, at("junk"), map[string]string{"runs.ndjson": "\n{torn\n \n{}\n"})
	become(t, at("junk"), at("junk-db"), convert.Options{From: "cursor-ndjson", To: "cursor-sdk"})
	rep = become(t, at("junk-db"), at("junk2"), convert.Options{Flat: true, To: "cursor-ndjson"})
	if n := lossesLike(rep, loss.LineNotJSON); n != 1 {
		t.Errorf("%d lines: %+v", n, rep.Stores[0].Losses)
	}
	root := copied(t, dir)
	run(t, filepath.Join(root, "index.db"), "UPDATE agents SET metadata_json='{torn' WHERE rowid=1")
	become(t, root, at("text"), convert.Options{Flat: true, To: "cursor-ndjson", WithSecrets: true})
	rep = become(t, at("text"), at("back"), convert.Options{To: "cursor-sdk", WithSecrets: true})
	if n := lossesLike(rep, loss.CellNotJSON); n != 1 {
		t.Errorf("%d texts: %+v", n, rep.Stores[0].Losses)
	}
}

// A folder of state roots: what rehome kept aside is no store of anybody's,
// unless it is all that is left.
func TestBackupsAreNoStores(t *testing.T) {
	dir := t.TempDir()
	roots := filepath.Join(dir, "p", "sdk-agent-store")
	gen := os.DirFS(filepath.Join(samples, "gen", "sqlite"))
	for _, name := range []string{"aa", "aa.bak-1", "bb.bak-2", "cc.bak-x"} {
		if err := os.CopyFS(filepath.Join(roots, name), gen); err != nil {
			t.Fatal(err)
		}
	}
	said := ""
	o := convert.Options{Flat: true, To: "cursor-ndjson", OnNotice: func(s string) { said += s + "\n" }}
	rep := become(t, roots, filepath.Join(dir, "out"), o)
	var got []string
	for _, s := range rep.Stores {
		got = append(got, s.Path)
	}
	if strings.Join(got, " ") != "aa bb.bak-2 cc.bak-x" || !strings.Contains(said, "aa.bak-1 skipped") {
		t.Errorf("%q, said %q", got, said)
	}
	// The hint of a project with several names one of them as it can be given.
	for _, name := range []string{"bb.bak-2", "cc.bak-x"} {
		if err := os.Rename(filepath.Join(roots, name), filepath.Join(roots, name[:2])); err != nil {
			t.Fatal(err)
		}
	}
	_, err := convert.Convert(t.Context(), all.Registry(), filepath.Join(dir, "p"), filepath.Join(dir, "no"), convert.Options{Flat: true, To: "cursor-ndjson"})
	if hint := formats.Hint(err); !strings.Contains(hint, roots+string(filepath.Separator)) {
		t.Errorf("hint %q", hint)
	}
	os.RemoveAll(filepath.Join(roots, "bb"))
	os.RemoveAll(filepath.Join(roots, "cc"))
	for _, word := range []string{"sidecar", "residue"} {
		beside := "aa." + word + ".ndjson"
		lay(t, roots, map[string]string{beside: `{"rehome":"` + word + `","version":1}` + "\n"})
		said = ""
		become(t, filepath.Join(dir, "p"), filepath.Join(dir, "one-"+word), o)
		if !strings.Contains(said, "aa.bak-1 skipped") || !strings.Contains(said, "using the sidecar "+filepath.Join(roots, beside)) || strings.Contains(said, beside+" skipped") {
			t.Errorf("said %q", said)
		}
		if word == "sidecar" {
			os.Remove(filepath.Join(roots, beside))
		}
	}
	lay(t, roots, map[string]string{"aa.sidecar.ndjson": `{"rehome":"sidecar","version":1}` + "\n"})
	if _, err = convert.Convert(t.Context(), all.Registry(), filepath.Join(dir, "p"), filepath.Join(dir, "two"), o); err == nil || !strings.Contains(err.Error(), "aa.sidecar.ndjson: duplicate sidecar") {
		t.Errorf("two sidecars: %v", err)
	}
}

// What is made anew is said of stores that came to be.
func TestAnewIsSaidAfterwards(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"lines/agents.ndjson": `{"agentId":"a","cwd":"/w","status":"idle","x":1}` + "\n"})
	for allow, want := range map[loss.Kind]bool{loss.Reshaped: false, loss.Dropped: true} {
		said := ""
		o := convert.Options{To: "cursor-sdk", Allow: allow, OnNotice: func(s string) { said += s }}
		if _, err := convert.Convert(t.Context(), all.Registry(), filepath.Join(dir, "lines"), filepath.Join(dir, "db-"+allow.String()), o); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(said, "generated again"); got != want {
			t.Errorf("allowed %v: said %q", allow, said)
		}
	}
}

// The hint names what this store can become.
func TestHintsFit(t *testing.T) {
	dir := t.TempDir()
	_, err := convert.Convert(t.Context(), all.Registry(), filepath.Join(samples, "gen", "sqlite"), filepath.Join(dir, "x"), convert.Options{})
	if hint := formats.Hint(err); !strings.Contains(hint, "--to with one of archive, cursor-ndjson, canonical, claude-code") {
		t.Errorf("hint %q", hint)
	}
	if bytes.Contains([]byte(err.Error()), []byte(os.TempDir()+"/rehome-try")) {
		t.Error(err)
	}
}

// In a folder of projects the residue inside of each stays where it is, and
// that is said.
func TestSidecarOfProjects(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"p", "q"} {
		root := filepath.Join(dir, "projects", name, "sdk-agent-store", "aa")
		if err := os.CopyFS(root, os.DirFS(filepath.Join(samples, "gen", "sqlite"))); err != nil {
			t.Fatal(err)
		}
	}
	lay(t, filepath.Join(dir, "projects", "p", "sdk-agent-store"), map[string]string{"aa.residue.ndjson": `{"rehome":"residue","version":1}` + "\n"})
	lay(t, filepath.Join(dir, "projects", "q", "sdk-agent-store"), map[string]string{"aa.sidecar.ndjson": `{"rehome":"sidecar","version":1}` + "\n"})
	said := ""
	become(t, filepath.Join(dir, "projects"), filepath.Join(dir, "out"), convert.Options{Flat: true, To: "cursor-ndjson", OnNotice: func(s string) { said += s + "\n" }})
	if strings.Count(said, "ignored: to use it") != 2 || !strings.Contains(said, filepath.Join("p", "sdk-agent-store", "aa.residue.ndjson")+" ignored: to use it") || !strings.Contains(said, filepath.Join("q", "sdk-agent-store", "aa.sidecar.ndjson")+" ignored: to use it") {
		t.Errorf("said %q", said)
	}
}
