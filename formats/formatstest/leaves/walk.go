package leaves

import (
	"bytes"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Leaf is one value of a record.
type Leaf struct {
	Path  string // member names joined by ".", and "[]" for elements, such as payload.content[].text
	Value string // a string, a number as it is written, true or false, or bytes
	Bytes bool   // Value is bytes and no text
	First bool   // the object has a later member of this name, which is the one that clients read

	at   string // Path with the numbers of elements, if it is in one
	who  place  // who says it, if the walk knows that
	part int    // the part of a session that it is of, from 1, if it is of a call or a result
	name string // of the extra whose value it is in
}

// Record is one line, row or file of a store.
type Record struct {
	At     string // as Message.Origin names it
	Kind   string // the values of the discriminators that the declarations name, joined by blanks
	Group  string // what it shares a session's head with: most often its file
	Leaves []Leaf

	// Wide records are in any message of their group: messages do not name them all.
	Wide bool
	// Telling is one of several that a store has of the same conversation, such as the events of a
	// run besides its state. In each of them an occurrence counts once.
	Telling string

	aside   bool     // it is of a branch, or before a compaction
	kid     bool     // it is a subagent's
	loose   bool     // it is of no turn: a prompt that begins none, a notice, or of a subagent that was not prompted
	names   []string // of the members of JSON in it
	command bool     // it is one that the user ran
	turn    string   // of a branch: where its turn begins
	call    string   // the tool call that it speaks of, if another record may say the same
}

// Walk yields the records of a store. kinds are the paths of the discriminators.
type Walk func(t testing.TB, path string, kinds []string) iter.Seq[Record]

// Doc is a JSON document of a store.
type Doc struct {
	Kind, Path string // as those of its leaves begin
	Root       *Node
}

// Rewrite copies a store, after change was called with each of its documents, and returns the
// path of the copy, which is inside of a folder.
type Rewrite func(t testing.TB, from, dir string, kinds []string, change func(Doc)) string

// Lines returns a walk over the JSON lines of the files below a path that end in .jsonl, or of
// one file of any name. Lines that are no JSON object are left out. prepare, if any, is called with
// each other one.
func Lines(prepare ...func(*Node)) Walk { return Files(".jsonl", prepare...) }

// Files is Lines for files that end otherwise.
func Files(ending string, prepare ...func(*Node)) Walk {
	return func(t testing.TB, path string, kinds []string) iter.Seq[Record] {
		return func(yield func(Record) bool) {
			for _, name := range files(t, path, ending) {
				n := 0
				for line := range split(read(t, filepath.Join(path, name))) {
					n++
					doc, err := Parse(line)
					if err != nil || doc.Kind != '{' {
						continue
					}
					for _, f := range prepare {
						f(doc)
					}
					r := Record{At: fmt.Sprintf("%s:%d", shown(path, name), n), Group: shown(path, name)}
					r.Kind, r.Leaves = kindOf(doc, kinds), doc.Leaves(nil, "")
					if !yield(r) {
						return
					}
				}
			}
		}
	}
}

// RewriteLines is the Rewrite of what Lines walks over.
func RewriteLines(t testing.TB, from, dir string, kinds []string, change func(Doc)) string {
	t.Helper()
	return RewriteFiles(".jsonl")(t, from, dir, kinds, change)
}

// RewriteFiles is the Rewrite of what Files walks over.
func RewriteFiles(ending string) Rewrite {
	return func(t testing.TB, from, dir string, kinds []string, change func(Doc)) string {
		t.Helper()
		return rewriteFiles(t, from, dir, ending, kinds, change)
	}
}

func rewriteFiles(t testing.TB, from, dir, ending string, kinds []string, change func(Doc)) string {
	t.Helper()
	to := filepath.Join(dir, filepath.Base(from))
	if info, err := os.Stat(from); err != nil {
		t.Fatal(err)
	} else if info.IsDir() {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range files(t, from, ending) {
		var out []byte
		for line := range split(read(t, filepath.Join(from, name))) {
			if doc, err := Parse(line); err == nil && doc.Kind == '{' {
				change(Doc{Kind: kindOf(doc, kinds), Root: doc})
				line = append(doc.Append(nil), '\n')
			}
			out = append(out, line...)
		}
		if err := os.WriteFile(filepath.Join(to, name), out, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// split yields the lines of a file, or all of it if it is one value.
func split(b []byte) iter.Seq[[]byte] {
	if _, err := Parse(b); err == nil {
		return slices.Values([][]byte{b})
	}
	return bytes.Lines(bytes.TrimPrefix(b, []byte("\ufeff")))
}

// files returns the files below a path that end in something, by their slash paths: "" for the path itself.
func files(t testing.TB, path, ending string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || p != path && !strings.HasSuffix(p, ending) {
			return err
		}
		if p == path {
			out = append(out, "")
			return nil
		}
		rel, err := filepath.Rel(path, p)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// shown is how addresses name a file.
func shown(path, name string) string {
	if name == "" {
		return filepath.Base(path)
	}
	return name
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
