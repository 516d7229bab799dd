package formatstest

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/schemas"
)

// description: a format has a name in kebab case, a title, and the functions that
// belong together.
func (c Case) description(t *testing.T) {
	f := c.Format
	if !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`).MatchString(f.Name) {
		t.Errorf("%q is not in kebab case", f.Name)
	}
	if g := c.Registry.Lookup(f.Name); g == nil {
		t.Fatalf("%s is not in the registry", f.Name)
	}
	if f.Title == "" || f.Probe == nil || f.Sessions == nil && f.Records == nil {
		t.Error("a format needs a title, Probe, and either Records or Sessions")
	}
	if r := f.Records; r != nil && (len(r.Kinds) == 0 || r.Open == nil || r.Create == nil) {
		t.Error("Records needs Kinds, Open and Create")
	}
	if f.Sessions != nil && f.Sessions.Decode == nil {
		t.Error("Sessions needs Decode")
	}
	if f.Writer != nil && (f.Writer.New == nil || f.Writer.Path == nil) {
		t.Error("Writer needs New and Path")
	}
	if f.Home != nil && f.Home.Roots == nil {
		t.Error("Home needs Roots")
	}
	if h := f.Home; h != nil && ((h.Hash == nil) != (h.IsHash == nil) || h.Hash != nil && !h.IsHash(h.Hash("/w/app"))) {
		t.Error("Home.IsHash does not accept what Hash returns")
	}
	if f.Home != nil && f.Home.Folder != "" && f.Home.Folder != "." && (f.Writer.Into == nil || f.Writer.Into.Add == nil) && !strings.HasPrefix(f.Writer.Path(&session.Head{ID: "a"}), f.Home.Folder+"/") {
		t.Error("Writer.Path is not in Home.Folder")
	}
	for _, name := range f.Schemas {
		if !slices.Contains(schemas.Names(), name) {
			t.Errorf("schema %s is not published", name)
		}
	}
	if f.Text && f.Records != nil && len(f.Schemas) == 0 {
		t.Error("a text format needs published schemas")
	}
}

// probe: the format recognizes its stores, gives evidence, and has the best score.
func probe(t *testing.T, c Case, s source) {
	found := detect(t, c.Registry, s.path)
	if len(found) == 0 || found[0].Format.Name != c.Format.Name {
		t.Fatalf("%s is not the best match for its own store: %s", c.Format.Name, names(found))
	}
	if len(found[0].Evidence) == 0 || slices.Contains(found[0].Evidence, "") {
		t.Errorf("no evidence: %q", found[0].Evidence)
	}
	for _, d := range found {
		if d.Score > 100 {
			t.Errorf("%s: score %d, more than sure", d.Format.Name, d.Score)
		}
	}
	if len(found) > 1 && found[1].Score >= found[0].Score {
		t.Errorf("%s is as sure as %s about its store", found[1].Format.Name, c.Format.Name)
	}
}

func detect(t *testing.T, r *formats.Registry, path string) []formats.Detected {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.Detect(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func names(found []formats.Detected) (out []string) {
	for _, d := range found {
		out = append(out, d.Format.Name)
	}
	return out
}

// strangers: files of no format are not recognized, and opening them anyway is an
// error that names the file.
func (c Case) strangers(t *testing.T) {
	steady(t)
	dir := filepath.Join(t.TempDir(), "strangers")
	for name, text := range map[string]string{
		"empty": "", "words.txt": "some words\n", "null.json": "null", "zeros": string(make([]byte, 4096)),
		"folder/file": "x", "manifest/manifest.json": "{}", "git/.git/HEAD": "ref: refs/heads/main\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	watch(t, dir)
	for _, name := range []string{"empty", "words.txt", "null.json", "zeros", "folder", "manifest", "git", "."} {
		path := filepath.Join(dir, name)
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.Format.Probe(t.Context(), l)
		if err != nil || m.Score > 0 {
			t.Errorf("%s: recognized with score %d, %q, error %v", name, m.Score, m.Evidence, err)
		}
		addressed(t, name, func() error {
			if c.Format.Records == nil {
				// Any words can be somebody's notes of a session. What is read of
				// them is a session or a loss.
				got, err := decode(t.Context(), c.Format, path, formats.View{}, session.Selection{})
				if err == nil && (!got.account.Balanced() || got.account.Read > 0 && len(got.lines())+len(got.failed) == 0) {
					t.Errorf("%s: %+v became of it, and %q", name, got.account, got.lines())
				}
				return err
			}
			_, err := read(t.Context(), c.Format, path, formats.View{})
			if err == nil {
				t.Errorf("%s: could be read", name)
			}
			return err
		})
	}
}

// addressed runs a function that may fail on invalid bytes: it must not panic, and
// its error must name a place.
func addressed(t *testing.T, what string, f func() error) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", what, p)
		}
	}()
	if err = f(); err == nil {
		return nil
	}
	var fe *formats.Error
	if !errors.As(err, &fe) || fe.At == "" {
		t.Errorf("%s: the error names no place: %v", what, err)
	}
	return err
}
