package codex_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/codex"
	"rehome/formats/internal/packed"
	"rehome/formats/loss"
	"rehome/formats/session"
)

const samples = "../../testdata/codex"

// told returns what a store holds: canonical lines, then the losses.
func told(t testing.TB, path string, ids ...string) (string, session.Account) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	var books loss.Log
	sel := session.Selection{IDs: ids, Account: new(session.SharedAccount)}
	for s, err := range codex.Format().Sessions.Decode(t.Context(), l, formats.View{OnLoss: books.Add}, sel) {
		if err != nil {
			t.Fatal(err)
		}
		text = append(session.AppendHead(text, s), '\n')
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			text = append(session.AppendMessage(text, m), '\n')
		}
	}
	for _, l := range books.Groups() {
		text = fmt.Appendf(text, "# %s %s: %d at %s\n", l.Kind, l.Code, l.Count, strings.Join(l.Places, " "))
	}
	return string(text), sel.Account.Total()
}

// TestAccount: each line is in the account once.
func TestAccount(t *testing.T) {
	for _, name := range []string{"home", "strange"} {
		_, account := told(t, filepath.Join(samples, name))
		if want := recount(t, filepath.Join(samples, name)); account.Read != want || !account.Balanced() {
			t.Errorf("%s: %d lines, %+v", name, want, account)
		}
	}
}

// recount counts the lines of all rollouts.
func recount(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		n += int64(bytes.Count(b, []byte("\n")))
		if len(b) > 0 && b[len(b)-1] != '\n' {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// session01 is a session that another one was forked from.
const (
	session01 = "01a202d9-0bc4-7c43-8649-9dd2023444fc"
	forked    = "01a202d9-2368-7873-a054-23b9276e6410"
	day       = samples + "/home/sessions/2026/11/22"
	original  = day + "/rollout-2026-11-22T10-41-48-" + session01 + ".jsonl"
)

// TestFork reads a fork by itself: its beginning is in another file, and not in
// its account.
func TestFork(t *testing.T) {
	fork := day + "/rollout-2026-11-22T10-41-54-" + forked + ".jsonl"
	text, account := told(t, fork)
	for _, want := range []string{"Played. – 你好", "Look at this.", "A fork of the tools."} {
		if strings.Count(text, `"text":"`+want) != 1 {
			t.Errorf("%q is there %d times", want, strings.Count(text, `"text":"`+want))
		}
	}
	if account.Read != 14 || !account.Balanced() {
		t.Errorf("%+v", account)
	}
	alone := filepath.Join(t.TempDir(), filepath.Base(fork))
	b, err := os.ReadFile(fork)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, _ := told(t, alone); !strings.Contains(text, `"missing":["the session that this one was forked from (`+session01+`)"]`) || !strings.Contains(text, "# missing L116: 1") {
		t.Errorf("a fork without its original:\n%s", text)
	}
}

// TestCompressed reads a rollout that was compressed; where both files are
// there, the compressed one counts as superseded.
func TestCompressed(t *testing.T) {
	dir := t.TempDir()
	plain, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := packed.NewWriter(&out, packed.Zstd, 1)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.Base(original)+".zst")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	want, _ := told(t, original)
	got, account := told(t, path)
	_, want, _ = strings.Cut(want, "\n")
	_, got, _ = strings.Cut(got, "\n")
	if got = strings.ReplaceAll(got, ".jsonl.zst", ".jsonl"); got != want || account.Read != 83 {
		t.Errorf("%d lines:\n%s\nwant\n%s", account.Read, got, want)
	}
	if err := os.WriteFile(strings.TrimSuffix(path, ".zst"), plain, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, account := told(t, dir); !strings.Contains(got, want[:len(want)/2]) || account.Superseded < 83 || account.Read != 166 || !account.Balanced() {
		t.Errorf("both: %+v", account)
	}
}

func TestHome(t *testing.T) {
	home := codex.Format().Home.Roots
	if got := home(formats.Machine{OS: "linux", Home: "/home/ann"}); got[0] != filepath.Join("/home/ann", ".codex") {
		t.Errorf("%q", got)
	}
	env := func(name string) string { return map[string]string{"CODEX_HOME": "/else"}[name] }
	if got := home(formats.Machine{OS: "linux", Home: "/home/ann", Getenv: env}); got[0] != "/else" {
		t.Errorf("%q", got)
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const stamp = "rollout-2026-11-22T10-41-48-"
	write("empty/sessions/2026/11/22/notes.jsonl", "{}")
	for path, want := range map[string]int{
		samples + "/home":                       90,
		samples + "/home/sessions":              90,
		samples + "/home/sessions/2026/11":      90,
		samples + "/home/archived_sessions":     90,
		day:                                     90,
		original:                                90,
		filepath.Join(dir, "empty"):             0,
		filepath.Join(dir, "empty", "sessions"): 0,
		write("copy.jsonl", `{"timestamp":"x","type":"session_meta","payload":{"id":"y"}}`+"\n"): 90,
		write("other.jsonl", `{"timestamp":"x","type":"session_meta","payload":{}}`+"\n"):        0,
		write(stamp+session01+".jsonl", `{"id":"x","timestamp":"y","instructions":null}`+"\n"):   85,
		write("old.jsonl", `{"id":"x","timestamp":"y","instructions":null}`+"\n"):                0,
		write(stamp+forked+".jsonl.zst", "\x28\xb5\x2f\xfd"):                                     85,
		write("other.jsonl.zst", "\x28\xb5\x2f\xfd"):                                             0,
		write("void.jsonl", ""): 0,
	} {
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := codex.Format().Probe(context.Background(), l); err != nil || m.Score != want {
			t.Errorf("%s: %+v, %v; want %d", path, m, err, want)
		}
	}
}

// TestFamilies: subagents follow the session that started them, however their files are
// named.
func TestFamilies(t *testing.T) {
	dir := t.TempDir()
	for i, parent := range []int{0, 0, 1, 2, 3} {
		id := func(n int) string { return fmt.Sprintf("0199aaaa-0000-7000-8000-%012d", n) }
		source := `"cli"`
		if parent > 0 {
			source = `{"subagent":{"thread_spawn":{"parent_thread_id":"` + id(parent) + `"}}}`
		}
		line := `{"timestamp":"2026-03-01T08:00:40.000Z","type":"session_meta","payload":{"id":"` + id(i+1) + `","source":` + source + "}}\n"
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rollout-2026-03-01T08-00-%02d-%s.jsonl", i, id(i+1))), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for s, err := range codex.Format().Sessions.Decode(t.Context(), l, formats.FullView(1), session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		got += s.ID[len(s.ID)-1:]
	}
	if got != "13524" {
		t.Errorf("the order is %s", got)
	}
}
