package doctor_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/doctor"
	"rehome/formats/all"
	"rehome/golden"
	"rehome/testdata/faults"
	"rehome/testdata/ide"
)

// samples are folders of testdata, and the scripts of stores of the IDE.
func samples() map[string]string {
	out := map[string]string{
		"chat": "chat", "sdk": "sdk/e2e-sqlite-hot-wal", "sdk-closed": "sdk/gen/sqlite", "sdk-legacy": "sdk/legacy-1.0.14", "sdk-play": "sdk/play/sqlite",
		"ndjson": "sdk/e2e-jsonl", "ndjson-closed": "sdk/gen/jsonl", "ndjson-play": "sdk/play/jsonl", "claude": "claude/config",
		"claude-shapes": "claude/shapes", "claude-versions": "faults/samples/claude-versions", "stream": "stream", "transcript": "transcript",
		"opencode": "opencode/home", "opencode-export": "opencode/exports", "opencode-json": "opencode/storage", "gemini-json": "gemini-json", "copilot-json": "copilot-json",
	}
	for _, f := range all.Registry().All() {
		if f.Family == "lines" {
			out[f.Name] = f.Name + "/home"
		}
	}
	cases, err := ide.Cases.ReadDir("cases")
	if err != nil {
		panic(err) // it is part of the program
	}
	for _, c := range cases {
		out["ide/"+strings.TrimSuffix(c.Name(), ".sql")] = ""
	}
	return out
}

// chatPath is where the CLI keeps a chat of the workspace /proj/demo.
const chatPath = "chats/109b94703558e9a577cf4102ba72ebb2/5d0b2b7e-1111-4000-8000-000000000000/store.db"

// makeSample returns a folder with a copy of a sample.
func makeSample(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	var err error
	switch from := samples()[name]; {
	case name == "chat":
		var b []byte
		b, err = os.ReadFile("../../testdata/chat/after.db")
		path := filepath.Join(dir, chatPath)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, b, 0o666))
	case from != "":
		err = os.CopyFS(dir, os.DirFS(filepath.Join("../../testdata", from)))
	default:
		_, script, _ := strings.Cut(name+"/tools", "/")
		script, _, _ = strings.Cut(script, "/")
		var text []byte
		text, err = ide.Cases.ReadFile("cases/" + script + ".sql")
		err = errors.Join(err, ide.Build(filepath.Join(dir, "User"), string(text)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestText: an archive is examined as the store that it was made from, and one that
// cannot be restored is reported.
func TestText(t *testing.T) {
	for _, name := range []string{"chat", "sdk-closed", "ide/tools"} {
		dir, to := makeSample(t, name), filepath.Join(t.TempDir(), "text")
		if _, err := convert.Convert(t.Context(), all.Registry(), dir, to, convert.Options{To: "archive", Sidecar: "none"}); err != nil {
			t.Fatal(err)
		}
		of := func(dir string) (out []string) {
			r, err := doctor.Run(t.Context(), all.Registry(), doctor.Options{Paths: []string{dir}})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Clients {
				if c.Format.Name != "cursor-transcript" { // beside the store
					out = append(out, fmt.Sprint(c.Format.Name, c.Stores, c.Sessions, c.Versions, c.Account.Read, c.RawBytes, c.Drift)) // not all fields: the keys are withheld
				}
			}
			for _, u := range r.Unread {
				out = append(out, fmt.Sprint(u.Path, u.Format, u.Err))
			}
			return out
		}
		want, got := of(dir), of(to)
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: the text\n%q\nis not its store\n%q", name, got, want)
		}
		err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(d.Name()) == ".ndjson" {
				err = os.WriteFile(path, []byte("[\n"), 0o666)
			}
			return err
		})
		if got := of(to); err != nil || slices.Equal(got, want) || !strings.Contains(fmt.Sprint(got), to) {
			t.Errorf("%s: edited text: %q, %v", name, got, err)
		}
	}
}

// drift returns what is unknown in a folder, one line each.
func drift(ctx context.Context, t *testing.T, dir string, jobs int) (out []string) {
	t.Helper()
	r, err := doctor.Run(ctx, all.Registry(), doctor.Options{Paths: []string{dir}, Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Clients {
		for _, d := range c.Drift {
			out = append(out, fmt.Sprintf("%s: %d %s %s in %s", c.Format.Name, d.Count, d.Kind, d.Name, d.Where))
		}
	}
	return out
}

// TestPlanted plants what a newer client may write. It must be named, once, and
// nothing else.
func TestPlanted(t *testing.T) {
	list, err := faults.Load("testdata/drift")
	if err != nil || len(list) < 15 {
		t.Fatal(len(list), err)
	}
	seen := map[string]bool{}
	for _, f := range list {
		t.Run(f.Sample+"/"+f.Name, func(t *testing.T) {
			dir := makeSample(t, f.Sample)
			before := drift(t.Context(), t, dir, 1)
			if err := f.Plant(dir); err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, line := range drift(t.Context(), t, dir, 3) {
				if format, rest, _ := strings.Cut(line, ": "); !slices.Contains(before, line) {
					seen[format] = true
					got = append(got, rest)
				}
			}
			for _, e := range f.Expect {
				n := 1
				if strings.HasPrefix(e.Place, "novelty:") {
					n = 2
				}
				want = append(want, fmt.Sprintf("%d %s %s", n, e.Rule, e.Place))
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
	for _, f := range all.Registry().All() {
		if f.Family != "lines" && f.Sessions != nil && !f.Text && !seen[f.Name] {
			t.Errorf("no drift is planted in %s", f.Name)
		}
	}
}

// TestDrift plants in the sample of each client whose sessions are lines.
func TestDrift(t *testing.T) {
	for _, f := range all.Registry().All() {
		if f.Family == "lines" {
			t.Run(f.Name, func(t *testing.T) { plantLine(t, f.Name) })
		}
	}
}

// plantLine adds a member to the last line of a sample, and a line of a new kind.
func plantLine(t *testing.T, sample string) {
	dir := makeSample(t, sample)
	before := drift(t.Context(), t, dir, 1)
	var file string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".jsonl" {
			file = path
		}
		return err
	})
	text, rerr := os.ReadFile(file)
	if err := errors.Join(err, rerr); err != nil {
		t.Fatal(err)
	}
	at := len(text) // the last line of a conversation: others are kept as they are
	for line := ""; !strings.Contains(line, `essage"`) && !strings.HasPrefix(line, `{"id"`); {
		end := at
		at = strings.LastIndex(string(text[:max(0, end-1)]), "\n") + 1
		line = string(text[at:end])
	}
	planted := string(text[:at]) + `{"sparkle":1,` + string(text[at+1:]) + `{"type":"ghost","value":1}` + "\n"
	if err := os.WriteFile(file, []byte(planted), 0o666); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range drift(t.Context(), t, dir, 3) {
		if !slices.Contains(before, line) {
			got = append(got, line)
		}
	}
	if len(got) != 2 || !strings.Contains(got[0], "1 record ghost in") || !strings.Contains(got[1], "1 field sparkle in") {
		t.Errorf("%q", got)
	}
}

// TestSamples keeps testdata/samples.txt, which lists what is unknown in each sample.
// What real clients wrote has nothing unknown; what was invented is listed.
func TestSamples(t *testing.T) {
	var out strings.Builder
	names := samples()
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range names {
			if !yield(n) {
				return
			}
		}
	}) {
		found := drift(t.Context(), t, makeSample(t, name), 0)
		if len(found) == 0 {
			found = []string{"nothing"}
		}
		fmt.Fprintf(&out, "%s\n    %s\n", name, strings.Join(found, "\n    "))
	}
	const file = "testdata/samples.txt"
	old, err := os.ReadFile(file)
	if out.String() == string(old) {
		return
	}
	if !golden.Updating() {
		t.Fatalf("%s: %v\n%s", file, err, golden.Diff(old, []byte(out.String())))
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestWritten: rehome knows everything in what it writes itself.
func TestWritten(t *testing.T) {
	for _, name := range []string{"chat", "claude-versions", "codex", "opencode", "pi"} {
		from := makeSample(t, name)
		for _, f := range all.Registry().All() {
			if f.Writer == nil {
				continue
			}
			to := filepath.Join(t.TempDir(), "to")
			_, err := convert.Convert(t.Context(), all.Registry(), from, to, convert.Options{To: f.Name, Sidecar: "none", BySession: true})
			if err != nil {
				t.Errorf("%s to %s: %v", name, f.Name, err)
				continue
			}
			got := slices.DeleteFunc(drift(t.Context(), t, to, 0), func(d string) bool {
				// What a model called is not ours, nor is a block that another client sent it.
				return strings.Contains(d, " tool ") || strings.Contains(d, " record tool_reference ")
			})
			if len(got) > 0 {
				t.Errorf("%s to %s: %q", name, f.Name, got)
			}
		}
	}
}

// TestUnknownField adds a field of protobuf that has no name to the state of a chat.
func TestUnknownField(t *testing.T) {
	dir := makeSample(t, "chat")
	db, err := sql.Open("sqlite", filepath.Join(dir, chatPath))
	if err != nil {
		t.Fatal(err)
	}
	var meta, root string
	var state []byte
	err = errors.Join(db.QueryRow("select value, json_extract(unhex(value), '$.latestRootBlobId') from meta where key = '0'").Scan(&meta, &root),
		db.QueryRow("select data from blobs where id = ?", root).Scan(&state))
	if err != nil {
		t.Fatal(err)
	}
	state = append(state, 0xc8, 0x3e, 1) // field 1001, a number
	sum := sha256.Sum256(state)
	id := hex.EncodeToString(sum[:])
	doc, err := hex.DecodeString(meta)
	if err != nil {
		t.Fatal(err)
	}
	meta = hex.EncodeToString([]byte(strings.ReplaceAll(string(doc), root, id)))
	_, err = db.Exec("insert into blobs values (?, ?)", id, state)
	_, merr := db.Exec("update meta set value = ? where key = '0'", meta)
	if err := errors.Join(err, merr, db.Close()); err != nil {
		t.Fatal(err)
	}
	got := drift(t.Context(), t, dir, 1)
	if want := []string{"cursor-chat: 1 field #1001 in ConversationStateStructure"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
