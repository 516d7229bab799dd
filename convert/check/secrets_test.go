package check_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/testdata/ide"
)

// token is a credential that opens nothing, put together so that nobody who
// looks for such takes this file for a leak.
func token(n int) string { return "gh" + "p_" + fmt.Sprintf("%04dq8Zr2LmX0vTb7NcK5wYs9HdJfG3PaUe1", n) }

func secretsOf(t *testing.T, path string) []string {
	t.Helper()
	r, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{path}, Layers: rule.Secrets, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range r.Stores {
		if s.Err != nil {
			t.Error(s.Err)
		}
		for _, b := range s.Findings {
			for _, f := range b.Places {
				out = append(out, fmt.Sprintf("%s %s %s", f.Rule, f.At, f.Text()))
			}
		}
	}
	for _, s := range out {
		for n := range 100 {
			if strings.Contains(s, token(n)[4:]) {
				t.Errorf("it is printed: %s", s)
			}
		}
	}
	return out
}

// TestSecretsInLines: each is found at its line, however long the lines are and
// wherever a read ends.
func TestSecretsInLines(t *testing.T) {
	event := func(text string) string {
		return `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"` + text + `"}]},"session_id":"5e550000-0000-4000-8000-000000000001"}` + "\n"
	}
	b64 := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("some words in front ", 20) + token(3) + strings.Repeat(" and behind", 20)))
	text := event("hello") + event("use "+token(1)+" for it") + event(strings.Repeat("long ", 300_000)+token(2)+strings.Repeat(" line", 300_000)) +
		event(b64) + event(hex.EncodeToString([]byte("some words in front of "+token(4)+" and behind"))) + strings.Repeat(event("filler"), 20_000) + event(token(5)) + event("the end "+token(6))
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, n := range []int{1, 2, 4, 5} {
		want = append(want, fmt.Sprintf("RH501 :%d github-pat, byte ", n+1))
	}
	for _, n := range []int{5, 6} {
		want = append(want, fmt.Sprintf("RH501 :%d github-pat, byte ", 20_000+n+1))
	}
	want[2], want[3] = "RH501 :4 github-pat, byte ", "RH501 :5 github-pat, byte "
	got := secretsOf(t, path)
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range got {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
	if at := bytes.Index([]byte(strings.Split(text, "\n")[2]), []byte(token(2))); !strings.HasSuffix(got[1], fmt.Sprintf("byte %d of the line", at)) {
		t.Errorf("%s, want byte %d", got[1], at)
	}
}

// TestSecretsInRows: cells of tables, and the files beside them.
func TestSecretsInRows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	script := "create table notes (id text primary key, body, n int);\n" +
		"insert into notes values ('a', 'use " + token(1) + "', 1), ('b', x'" + hex.EncodeToString([]byte("\x00\x01"+token(2)+"\xff")) + "', 2), ('c', 'nothing', 3);\n" +
		"insert into notes values ('" + token(4) + "', null, 4), ('d', '" + hex.EncodeToString([]byte(`{"name":"`+token(5)+`"}`)) + "', 5), ('" + token(6) + "', '" + token(7) + "', 6);"
	if err := ide.Exec(filepath.Join(dir, "a.db"), script); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`RH501 notes#1 (a) github-pat, byte 4 of column "body"`,
		`RH501 notes#2 (b) github-pat, byte 2 of column "body"`,
		`RH501 notes#4 github-pat, byte 0 of column "id"`,
		`RH501 notes#5 (d) github-pat, byte 0 of column "body"`,
		`RH501 notes#6 github-pat, byte 0 of column "body"`,
		`RH501 notes#6 github-pat, byte 0 of column "id"`,
	}
	if got := secretsOf(t, dir); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestSecretsOfOneSession: a file is enough, though its codec reads no records
// of one alone.
func TestSecretsOfOneSession(t *testing.T) {
	const name = "20000000-0000-4000-8000-000000000003.jsonl"
	text, err := os.ReadFile("../../testdata/claude/config/projects/-home-ann-app/" + name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	entry := `{"type":"custom-title","sessionId":"` + strings.TrimSuffix(name, ".jsonl") + `","customTitle":"use ` + token(1) + `"}` + "\n"
	if err := os.WriteFile(path, append([]byte(entry), text...), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := secretsOf(t, path); len(got) != 1 || !strings.HasPrefix(got[0], "RH501 :1 github-pat, ") {
		t.Errorf("%q", got)
	}
}

// TestSecretsAreNotRepeated: what another rule says of a name is said without
// it, if it is a credential.
func TestSecretsAreNotRepeated(t *testing.T) {
	text, err := os.ReadFile("../../testdata/canonical/one.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "one.jsonl")
	for _, name := range []string{token(1), "plain"} {
		line := fmt.Sprintf(`{"type":"message","id":"m77","role":"tool","%s":1,"parts":[{"type":"tool_result","call":"%s"}]}`+"\n", name, name)
		if err := os.WriteFile(path, append(bytes.Clone(text), line...), 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{path}, Layers: everything | rule.Secrets, For: "claude-code"})
		if err != nil || len(r.Stores) != 1 {
			t.Fatal(err, r.Stores)
		}
		said := fmt.Sprintf("%+v", r.Stores[0].Findings)
		if !strings.Contains(said, "has members that have no place here") {
			t.Error(said)
		}
		if named := strings.Contains(said, name); named != (name == "plain") {
			t.Errorf("it names %s: %t", name, named)
		}
	}
}

// TestFingerprintsStay: looking for credentials changes what a finding says of
// one, and not which finding it is.
func TestFingerprintsStay(t *testing.T) {
	text, err := os.ReadFile("../../testdata/canonical/one.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "one.jsonl")
	line := fmt.Sprintf(`{"type":"message","id":"m77","role":"tool","%s":1,"parts":[{"type":"tool_result","call":"%s"}]}`+"\n", token(1), token(2))
	if err := os.WriteFile(path, append(text, line...), 0o666); err != nil {
		t.Fatal(err)
	}
	var prints, said [2][]string
	for i, layers := range []rule.Layers{everything, everything | rule.Secrets} {
		r, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{path}, Layers: layers})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range r.Stores[0].Findings {
			if b.Rule.Layer == rule.Secrets {
				continue
			}
			for k, f := range b.Places {
				prints[i], said[i] = append(prints[i], b.Fingerprint(k)), append(said[i], f.Text()+f.Pointer)
			}
		}
	}
	if len(prints[0]) < 2 || !slices.Equal(prints[0], prints[1]) || slices.Equal(said[0], said[1]) {
		t.Errorf("%q and %q, which say %q and %q", prints[0], prints[1], said[0], said[1])
	}
}

// TestOwnKeys: a client's key is found where it stands in text that is bound
// for git, and not in the store that it belongs to.
func TestOwnKeys(t *testing.T) {
	dir := t.TempDir()
	store := "../../testdata/chat/after.db"
	if got := secretsOf(t, store); len(got) > 0 {
		t.Errorf("%q", got)
	}
	for name, c := range map[string]struct {
		o    convert.Options
		want []string
	}{
		"without": {convert.Options{}, nil},
		"with":    {convert.Options{WithSecrets: true}, []string{"RH503 meta.ndjson:1 meta blobEncryptionKey"}},
		"packed":  {convert.Options{WithSecrets: true, Compress: "zstd"}, []string{"RH503 meta#1 (0) meta blobEncryptionKey"}},
	} {
		c.o.To, c.o.Sidecar = "archive", "none"
		to := filepath.Join(dir, name)
		if _, err := convert.Convert(t.Context(), all.Registry(), store, to, c.o); err != nil {
			t.Fatal(err)
		}
		if got := secretsOf(t, to); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestOwnKeysThatStay: a key that no reader withholds, in a blob that is named
// after its content and in what somebody said, is found where it stands, in an
// archive as in lines; one that was withheld is not.
func TestOwnKeysThatStay(t *testing.T) {
	const key = "00112233445566778899aabbccddeeff"
	said := `{"role":"tool","content":"{\"blobEncryptionKey\":\"` + key + `\"}","x":{"BlobEncryptionKey": "` + key + `"},"y":{"blobEncryptionKey":""},"z":"no blobEncryptionKey: at all"}`
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(said)))
	dir := t.TempDir()
	user := filepath.Join(dir, "state.vscdb")
	if err := ide.Exec(user, `CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES ('composerData:c','{"blobEncryptionKey":"`+key+`"}'),('agentKv:blob:`+sum+`',CAST('`+said+`' AS BLOB));`); err != nil {
		t.Fatal(err)
	}
	sdk := filepath.Join(dir, "sdk")
	if err := os.CopyFS(sdk, os.DirFS("../../testdata/sdk/gen/sqlite")); err != nil {
		t.Fatal(err)
	}
	if err := ide.Exec(filepath.Join(sdk, "index.db"), `UPDATE runs SET result='`+said+`' WHERE rowid=1; UPDATE runs SET usage_json='{"blobEncryptionKey":"`+key+`"}' WHERE rowid=2`); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		from string
		o    convert.Options
		want int
	}{
		"ide":          {user, convert.Options{To: "archive"}, 2},
		"ide with":     {user, convert.Options{To: "archive", WithSecrets: true}, 3},
		"ide packed":   {user, convert.Options{To: "archive", Compress: "zstd"}, 2},
		"archive":      {sdk, convert.Options{To: "archive"}, 2},
		"archive with": {sdk, convert.Options{To: "archive", WithSecrets: true}, 7},
		"lines":        {sdk, convert.Options{To: "cursor-ndjson"}, 2},
		"lines with":   {sdk, convert.Options{To: "cursor-ndjson", WithSecrets: true}, 5},
	} {
		c.o.Sidecar = "none"
		to := filepath.Join(dir, name)
		if _, err := convert.Convert(t.Context(), all.Registry(), c.from, to, c.o); err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(secretsOf(t, to), func(s string) bool { return !strings.HasPrefix(s, "RH503") })
		if len(got) != c.want {
			t.Errorf("%s: %d places, want %d: %q", name, len(got), c.want, got)
		}
	}
}

// TestSecretsOfBrokenStores: a store that has been found broken is not told to
// be unreadable as well.
func TestSecretsOfBrokenStores(t *testing.T) {
	dir := t.TempDir()
	if _, err := convert.Convert(t.Context(), all.Registry(), "../../testdata/chat/after.db", filepath.Join(dir, "chat"), convert.Options{To: "archive", Sidecar: "none"}); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "chat", "meta.ndjson"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("[2,\"1\",null]\n")
	f.Close()
	for _, layers := range []rule.Layers{rule.Secrets, rule.Secrets | everything} {
		r, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{dir}, Layers: layers})
		if err != nil {
			t.Fatal(err)
		}
		if s := r.Stores[0]; (s.Err == nil) != (layers != rule.Secrets) || s.Err == nil && (s.Count(rule.Error) == 0 || len(s.Remarks) == 0) {
			t.Errorf("%s: %v, %d errors, %q", layers, s.Err, s.Count(rule.Error), s.Remarks)
		}
	}
}
