package canonical_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/canonical"
	"rehome/formats/cursorchat"
	"rehome/formats/internal/digest"
	"rehome/formats/session"
)

const companion = ".jsonl" + formats.SidecarSuffix

// kept writes the sessions of a chat as text with a sidecar, and returns both.
func kept(t testing.TB) (text, beside []byte) {
	t.Helper()
	l, err := formats.Locate(filepath.Join("..", "..", "testdata", "chat", "after.db"))
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "draft")
	for s, err := range cursorchat.Format().Sessions.Decode(t.Context(), l, formats.View{OnNotice: func(string) {}}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		d, err := canonical.Format().Writer.New().Put(t.Context(), s, formats.SessionBuild{Path: at, Sidecar: true})
		if err == nil {
			err = d.Verify(t.Context())
		}
		if err != nil || d.Companion != companion {
			t.Fatal(d, err)
		}
	}
	text, err = os.ReadFile(at)
	if err == nil {
		beside, err = os.ReadFile(at + companion)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text, beside
}

// used reads a text with a sidecar and reports whether its state is used, and all remarks.
// Then each blob has the right id, and the root is the last.
func used(t *testing.T, text, beside []byte) (whole bool, remarks string) {
	t.Helper()
	at := filepath.Join(t.TempDir(), "text.jsonl")
	if err := errors.Join(os.WriteFile(at, text, 0o600), os.WriteFile(at+formats.SidecarSuffix, beside, 0o600)); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(at)
	if err != nil {
		t.Fatal(err)
	}
	v := formats.View{OnNotice: func(s string) { remarks += s + "\n" }}
	for s, err := range canonical.Format().Sessions.Decode(t.Context(), l, v, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		var last [32]byte
		var root [32]byte
		root, whole, err = s.Graph.Copy(t.Context(), func(_ context.Context, id [32]byte, data []byte) error {
			if last = id; sha256.Sum256(data) != id {
				t.Errorf("blob %x has other bytes", id)
			}
			return nil
		})
		if err != nil || whole && root != last {
			t.Errorf("root %x, last blob %x: %v", root, last, err)
		}
	}
	return whole, remarks
}

// TestSidecarLines changes a sidecar in every line.
func TestSidecarLines(t *testing.T) {
	text, beside := kept(t)
	if whole, remarks := used(t, text, beside); !whole || remarks != "" {
		t.Fatalf("the state is not used: %q", remarks)
	}
	lines := slices.Collect(bytes.Lines(beside))
	for i := range lines {
		less := bytes.Join(slices.Concat(lines[:i], lines[i+1:]), nil)
		torn := bytes.Join(slices.Concat(lines[:i], [][]byte{lines[i][:len(lines[i])/2]}), nil)
		for what, b := range map[string][]byte{"removed": less, "torn": torn} {
			if whole, remarks := used(t, text, b); whole || remarks == "" && !(i <= 1) {
				t.Errorf("line %d %s: the state is used: %v, remarks %q", i+1, what, whole, remarks)
			}
		}
	}
	joined := slices.Concat(beside, beside)
	if whole, remarks := used(t, text, joined); !whole || remarks != "" {
		t.Errorf("joined sidecars: the state is not used: %q", remarks)
	}
	for old, new := range map[string]string{`"lines":"xxh3:`: `"lines":"`, `"extras":`: `"extras":-`, `{"session":"`: `{"session":"x`} {
		if whole, _ := used(t, text, bytes.Replace(beside, []byte(old), []byte(new), 1)); whole {
			t.Errorf("%s: the state is used", new)
		}
	}
	if whole, remarks := used(t, append(text, text...), beside); !whole || remarks != "" {
		t.Errorf("the session twice: the state is not used: %q", remarks)
	}
	if whole, remarks := used(t, bytes.Replace(text, []byte(`"id":"`), []byte(`"id":"x`), 1), beside); whole || remarks != "" {
		t.Errorf("another session: used %v, %q", whole, remarks)
	}
}

// TestSidecarForged has the digest of a text that does not show what the state says.
func TestSidecarForged(t *testing.T) {
	text, beside := kept(t)
	forge := func(old, new string) (shown, forged []byte) {
		shown = bytes.ReplaceAll(text, []byte(old), []byte(new))
		of := func(b []byte) string {
			sum := digest.NewStream()
			sum.Write(b)
			return sum.Sum().String()
		}
		return shown, bytes.Replace(beside, []byte(of(text)), []byte(of(shown)), 1)
	}
	shown, forged := forge(`"role":"assistant"`, `"role": "assistant"`)
	if whole, remarks := used(t, shown, forged); !whole || bytes.Equal(shown, text) || bytes.Equal(forged, beside) {
		t.Fatalf("text that shows all: used %v, %q", whole, remarks)
	}
	for _, prompt := range prompts(t, text) {
		shown, forged := forge(`"text":"`+prompt, `"text":"x`)
		if whole, remarks := used(t, shown, forged); whole || !strings.HasPrefix(remarks, "sidecar differs from the text") {
			t.Errorf("without %s: used %v, remarks %q", prompt, whole, remarks)
		}
	}
}

// prompts returns the texts of users in a text, as JSON has them.
func prompts(t *testing.T, text []byte) (out []string) {
	for _, m := range regexp.MustCompile(`"role":"user".*?"text":"([^"\\]+)`).FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	if len(out) == 0 {
		t.Fatal("no prompts")
	}
	return out
}

// TestSidecarsOfFolder: those of no text, and what only has the name of one, are ignored.
func TestSidecarsOfFolder(t *testing.T) {
	text, beside := kept(t)
	dir := filepath.Join(t.TempDir(), "text")
	at := filepath.Join(dir, "cursor-cli", "a")
	err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at+".jsonl", text, 0o600),
		os.WriteFile(filepath.Join(dir, "cursor-cli", "gone"+companion), beside, 0o600), os.Mkdir(at+companion, 0o700))
	if err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	var remarks []string
	v := formats.View{OnNotice: func(s string) { remarks = append(remarks, s) }}
	for s, err := range canonical.Format().Sessions.Decode(t.Context(), l, v, session.Selection{}) {
		if err != nil || s.Graph == nil {
			t.Fatal(err, s)
		}
		if _, whole, err := s.Graph.Copy(t.Context(), nil); whole || err != nil {
			t.Error(whole, err)
		}
	}
	if len(remarks) > 0 {
		t.Errorf("remarks %q", remarks)
	}
	v.NoSidecar = true
	for s, err := range canonical.Format().Sessions.Decode(t.Context(), l, v, session.Selection{}) {
		if err != nil || s.Graph != nil {
			t.Error(err, "a sidecar is used")
		}
	}
}

// FuzzSidecar reads sidecars of anyone.
func FuzzSidecar(f *testing.F) {
	text, beside := kept(f)
	f.Add(beside)
	f.Add(bytes.ReplaceAll(beside, []byte(`"text":`), []byte(`"base64":`)))
	f.Add(bytes.ReplaceAll(beside, []byte("\n"), []byte("\r\n")))
	f.Add([]byte(`{"rehome":"sidecar","version":1,"of":"canonical"}` + "\n{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) { used(t, text, b) })
}
