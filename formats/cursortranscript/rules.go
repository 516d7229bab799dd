package cursortranscript

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/transcript"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// mostText bounds a line of a transcript; the clients leave out messages beyond
// 5 MB.
const mostText = 64 << 20

// check asks each transcript of a folder what the rules ask. A copy that is
// read by people and agents can have little wrong with it: that it can be read
// is what counts.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	f, err := open(l)
	if err != nil {
		return failure(ctx, l.Path, err)
	}
	defer f.root.Close()
	dir := l.Path
	if !l.IsDir() {
		dir = filepath.Dir(l.Path)
	}
	a := &audit{ctx: ctx, view: v, q: q, dir: dir, schemas: q.Schemas()}
	there := map[string]bool{}
	for _, e := range f.sessions {
		there[e.id] = there[e.id] || e.parent == ""
	}
	for _, e := range f.sessions {
		if e.parent != "" && !there[e.parent] && l.IsDir() && f.within == transcript.Folder {
			a.say("RH379", e.best.Path, 0, "", "")
		}
		for _, t := range append([]transcript.File{e.best}, e.lesser...) {
			if t != e.best {
				a.say("RH478", t.Path, 0, "", "")
			}
			if err := a.file(t); err != nil {
				return failure(ctx, t.Path, err)
			}
		}
	}
	if l.IsDir() {
		return failed(ctx, l.Path, a.irregular(f))
	}
	return nil
}

func failed(ctx context.Context, at string, err error) error {
	if err == nil {
		return nil
	}
	return failure(ctx, at, err)
}

// audit is one folder's.
type audit struct {
	ctx     context.Context
	view    formats.View
	q       *rule.Pass
	dir     string
	schemas *rule.Schemas
}

func (a *audit) say(id, file string, line int, pointer, says string, args ...any) {
	if a.q.Enabled(rule.Lookup(id).Layer) {
		a.q.Report(rule.Finding{Rule: id, At: store.Addr{File: file, Line: line}, Pointer: pointer, Message: says, Args: args})
	}
}

// irregular tells of what has a transcript's name and is no file.
func (a *audit) irregular(f *folder) error {
	return fs.WalkDir(f.root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == ".":
			return err
		case err != nil:
			return fs.SkipDir
		case e.IsDir() && strings.Count(f.within+"/"+p, "/") > 3:
			return fs.SkipDir
		case !e.IsDir() && !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0 && strings.HasSuffix(p, ".jsonl"):
			a.say("RH122", p, 0, "", "")
		}
		return nil
	})
}

// file asks one transcript.
func (a *audit) file(t transcript.File) error {
	path := filepath.Join(a.dir, filepath.FromSlash(t.Path))
	if t.Text {
		return a.text(path, t.Path)
	}
	messages, odd := 0, false
	o := linecheck.Options{Format: name, Most: mostText, Odd: func(int) { odd = true }}
	for l, err := range linecheck.Lines(a.ctx, path, t.Path, a.view, a.q, o) {
		if err != nil {
			return err
		}
		if a.line(t.Path, &l) {
			messages++
		}
	}
	if info, err := os.Stat(path); messages == 0 && !odd && err == nil && info.Size() > 0 {
		a.say("RH479", t.Path, 0, "", "")
	}
	return nil
}

// line asks one line, and reports whether somebody says something in it.
func (a *audit) line(file string, l *linecheck.Line) (message bool) {
	kind, role := rawjson.Text(l.Member("type")), rawjson.Text(l.Member("role"))
	message = l.Member("message") != nil || kind == "" && role != ""
	schema := "cursor-transcript-mark-1"
	switch {
	case message:
		schema = "cursor-transcript-message-1"
		switch role {
		case "user", "assistant", "tool", "system", "":
		default:
			a.say("RH204", file, l.Number, "/role", "role %q", rule.Clip(role))
		}
	case kind != "turn_ended" && kind != "error" && kind != "metadata":
		a.say("RH204", file, l.Number, "/type", "line type %q", rule.Clip(kind))
		if kind != "" {
			return false
		}
	}
	l.Matches(a.q, a.schemas.Get(schema), store.Addr{File: file, Line: l.Number})
	return message
}

// text asks a transcript of the old form: lines of plain words.
func (a *audit) text(path, file string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	messages := 0
	for l, err := range lines.Each(a.ctx, f, mostText) {
		if err != nil {
			return err
		}
		if !linecheck.UTF8(&l, file, name, a.q) {
			continue
		}
		if line := trimmed(l.Bytes[:min(len(l.Bytes), 64)]); line == userMark || line == answerMark {
			messages++
		}
	}
	if messages == 0 {
		a.say("RH479", file, 0, "", "")
	}
	return nil
}
