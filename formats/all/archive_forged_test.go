package all_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// archiveForger knows an archive, file by file.
type archiveForger struct {
	text  string
	of    string // the format of the store
	files map[string]string
	names []string // of files with rows
	ids   []string // of blobs
	sdk   *sdkForger
}

func newArchiveForger(t *testing.T, src, of string, sdk *sdkForger) *archiveForger {
	t.Helper()
	f := &archiveForger{text: filepath.Join(t.TempDir(), "text"), of: of, files: map[string]string{}, sdk: sdk, ids: sdk.ids}
	become(t, src, f.text, convert.Options{To: "archive"})
	err := filepath.WalkDir(f.text, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(f.text, path)
		b, err := os.ReadFile(path)
		if f.files[filepath.ToSlash(name)] = string(b); strings.HasSuffix(name, ".ndjson") && strings.Count(string(b), "\n") > 1 {
			f.names = append(f.names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil || len(f.names) == 0 {
		t.Fatal(err, len(f.names))
	}
	return f
}

// forge writes a copy of the archive with one forgery. All but one kind have digests that fit.
func (f *archiveForger) forge(t *testing.T, r *rand.Rand, dir string) (what string) {
	t.Helper()
	name := f.names[r.IntN(len(f.names))]
	lines := strings.SplitAfter(strings.TrimSuffix(f.files[name], "\n"), "\n")
	lines = lines[:len(lines)-1]
	i, j := r.IntN(len(lines)), r.IntN(len(lines))
	text, beside := "", ""
	switch what = []string{"row", "unsigned", "role", "order", "twice", "gone", "schema", "sidecar"}[r.IntN(8)]; what {
	case "row", "unsigned":
		lines[i] = twist(r, strings.TrimSuffix(lines[i], "\n"), f.ids) + "\n"
	case "role":
		lines[i] = strings.NewReplacer(`"role":"user"`, `"role":"assistant"`, `"role":"assistant"`, `"role":"user"`).Replace(lines[i])
	case "order":
		lines[i], lines[j] = lines[j], lines[i]
	case "twice":
		lines = append(lines, lines[i])
	case "gone":
		lines = slices.Delete(lines, i, i+1)
	case "schema":
		for name = range f.files {
			if strings.HasSuffix(name, "database.json") {
				break
			}
		}
		text = signedDocument(t, swapWords(f.files[name], "data", "id"))
	case "sidecar":
		items := []members{f.sdk.row(r, "blobs"), f.sdk.meta(r, f.ids[r.IntN(len(f.ids))]), f.sdk.schema(r), f.sdk.transcript(r)}
		for _, item := range append(items, f.sdk.turn(r)...) {
			b, err := item.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			beside += string(b) + "\n"
		}
	}
	if text == "" {
		var sum store.Digest
		for _, l := range lines {
			sum.Add(placed(name, l))
		}
		text = strings.Join(lines, "") + fmt.Sprintf("{\"rows\":%d,\"digest\":\"%s\"}\n", len(lines), sum)
	}
	if what == "unsigned" {
		was := strings.SplitAfter(f.files[name], "\n")
		text = strings.Join(lines, "") + was[len(was)-2]
	}
	if err := os.CopyFS(dir, os.DirFS(f.text)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if beside != "" {
		if err := os.WriteFile(dir+formats.SidecarSuffix, []byte(`{"rehome":"sidecar","version":1}`+"\n"+beside), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return what
}

// placed is the digest of a line of an archive in its file, as docs/archive-format.md says.
func placed(name, line string) store.Digest {
	d := digest.Bytes([]byte(line))
	return digest.Bytes(fmt.Appendf(nil, "%s%s%s", big(d.Hi), big(d.Lo), big(digest.Name(name))))
}

func big(n uint64) []byte {
	var out []byte
	for shift := 56; shift >= 0; shift -= 8 {
		out = append(out, byte(n>>shift))
	}
	return out
}

// signedDocument gives a document of an archive the digest that fits.
func signedDocument(t *testing.T, doc string) string {
	t.Helper()
	const member = `"digest": "`
	i := strings.Index(doc, member)
	if i < 0 || !json.Valid([]byte(doc)) {
		t.Fatalf("no digest in %.200s", doc)
	}
	end := strings.Index(doc[i+len(member):], `"`) + i + len(member)
	sum := digest.Bytes([]byte(doc[:i+len(member)] + doc[end:]))
	return doc[:i+len(member)] + sum.String() + doc[end:]
}

// restore restores the archive, and compares what it says when it is shown with what the
// store says. Reading an archive uses no sidecar.
func (f *archiveForger) restore(t *testing.T, text, out string) (outcome int, said string) {
	t.Helper()
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(out, filepath.Base(text)) // a session without an id has the name of its folder
	rep, err := convert.Convert(t.Context(), all.Registry(), text, out, convert.Options{From: "archive", Jobs: 1})
	if err != nil || !rep.Placed {
		return forgedRefused, ""
	}
	l, err := formats.Locate(text)
	if err != nil {
		t.Fatal(err)
	}
	_, shown, err := sessions.Restore(t.Context(), all.Registry(), all.Registry().Lookup("archive"), l, out+"-shown", formats.FullView(1), 0)
	if err != nil {
		return forgedWrong, err.Error()
	}
	want, got := told(t, f.of, shown.Path, map[string]bool{}), told(t, f.of, out, map[string]bool{})
	if !slices.Equal(want, got) {
		return forgedWrong, firstOther(want, got)
	}
	return forgedSame, ""
}
