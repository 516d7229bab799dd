package cursortranscript

import (
	"context"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/transcript"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// check applies the rules to each transcript of a folder. A copy that is
// read by people and agents can have little wrong with it: that it can be read
// is what counts.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	s, err := jsonl.Open(l, layout(l))
	if err != nil {
		return jsonl.Failure(ctx, name, l.Path, err)
	}
	defer s.Close()
	a := &audit{Store: s, ctx: ctx, view: v, q: q, schemas: q.Schemas()}
	for _, f := range s.Wanted() {
		a.q = q.OwnedBy(f.ID)
		if f.Link.Session != "" && f.Up == nil && l.IsDir() && within(l) == transcript.Folder {
			a.say("RH379", f.Path, 0, "", "")
		}
		for _, g := range append([]*jsonl.File{f}, f.Older...) {
			if g != f {
				a.say("RH478", g.Path, 0, "", "")
			}
			if err := a.file(g); err != nil {
				return jsonl.Failure(ctx, name, g.Path, err)
			}
		}
	}
	a.q = q
	for _, p := range s.Irregular {
		if strings.HasSuffix(p, ".jsonl") {
			a.say("RH122", p, 0, "", "")
		}
	}
	return nil
}

// audit is the check of one folder.
type audit struct {
	*jsonl.Store
	ctx     context.Context
	view    formats.View
	q       *rule.Pass
	schemas *rule.Schemas
}

func (a *audit) say(id, file string, line int, pointer, says string, args ...any) {
	a.q.Add(id, store.Addr{File: file, Line: line}, pointer, says, args...)
}

// file checks one transcript.
func (a *audit) file(f *jsonl.File) error {
	if isText(f) {
		return a.text(f)
	}
	messages, odd := 0, false
	o := linecheck.Options{Odd: func(int) { odd = true }}
	err := a.Check(a.ctx, f, a.view, a.q, o, func(l *linecheck.Line) {
		if a.line(f.Path, l) {
			messages++
		}
	})
	if info, no := a.Root.Stat(f.Path); err == nil && messages == 0 && !odd && no == nil && info.Size() > 0 {
		a.say("RH479", f.Path, 0, "", "")
	}
	return err
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

// text checks a transcript of the old form: lines of plain words.
func (a *audit) text(f *jsonl.File) error {
	messages := 0
	for l, err := range a.Lines(a.ctx, f, -1) {
		if err != nil {
			return err
		}
		if !linecheck.UTF8(&l.Line, f.Path, name, a.q) {
			continue
		}
		if line := trimmed(l.Bytes[:min(len(l.Bytes), 64)]); line == userMark || line == answerMark {
			messages++
		}
	}
	if messages == 0 {
		a.say("RH479", f.Path, 0, "", "")
	}
	return nil
}
