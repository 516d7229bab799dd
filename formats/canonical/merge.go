package canonical

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/forks"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// merge says how two people's copies of a session unite: its messages are the
// conversation. The head and the files that the client kept are its state.
func merge() *formats.Merge {
	return &formats.Merge{
		Sessions: sessions,
		Files:    []formats.MergeFile{{Name: "*" + ending, Records: elements, Updated: updated}},
		Path:     func(p, _, fork string) string { return path.Join(path.Dir(p), safe(fork)+ending) },
		Fork: func(id, digest string) string {
			fork := filename.NamedUUID("rehome/canonical/fork/1\x00", id, digest)
			if strings.HasPrefix(id, "agent-") { // as the Cursor SDK names its agents
				return "agent-" + fork
			}
			return fork
		},
		Rewrite: rewrite,
	}
}

// sessions lists the sessions in a file, or in the files of a folder.
func sessions(ctx context.Context, l *formats.Location) iter.Seq2[formats.MergeSession, error] {
	return func(yield func(formats.MergeSession, error) bool) {
		if !l.IsDir() {
			f, err := os.Open(l.Path)
			if err == nil {
				err = split(ctx, f, "", yield)
			}
			if err != nil && !errors.Is(err, errStopped) {
				yield(formats.MergeSession{}, jsonl.Failure(ctx, name, l.Path, err))
			}
			return
		}
		root, err := os.OpenRoot(l.Path)
		if err != nil {
			yield(formats.MergeSession{}, jsonl.Failure(ctx, name, l.Path, err))
			return
		}
		defer root.Close()
		files, err := arrange(root, func(path string) { yield(formats.MergeSession{File: path}, nil) })
		if err != nil {
			yield(formats.MergeSession{}, jsonl.Failure(ctx, name, l.Path, err))
			return
		}
		for _, file := range files {
			f, err := root.Open(file)
			if err == nil {
				err = split(ctx, f, file, yield)
			}
			if errors.Is(err, errStopped) {
				return
			}
			if err != nil && !yield(formats.MergeSession{}, jsonl.Failure(ctx, name, l.Path+"/"+file, err)) {
				return
			}
		}
	}
}

// errStopped is the error of a consumer that wants no more.
var errStopped = errors.New("stopped")

// split lists the sessions of a file, and closes it.
func split(ctx context.Context, f *os.File, file string, yield func(formats.MergeSession, error) bool) error {
	defer f.Close()
	one := formats.MergeSession{File: file}
	end := func(at int64) error {
		if one.To = at; one.ID != "" && !yield(one, nil) {
			return errStopped
		}
		return nil
	}
	at := int64(0)
	for l, err := range lines.Each(ctx, f, maxLine) {
		if err != nil {
			return err
		}
		at = l.Offset
		head := kindOf(l.Bytes) == "session"
		if head {
			l := jsonl.Parse(l)
			head = l.Object != nil
		}
		switch {
		case !head && one.ID == "" && !l.Blank():
			return unrecognized("not a canonical file: its first line is not the head of a session")
		case !head:
			continue
		}
		if err := end(at); err != nil {
			return err
		}
		s, err := new(parser).head(slices.Clone(jsonl.Parse(l).Object))
		if err == nil && (s.ID == "" || s.Agent == "") {
			err = errors.New("head without an id or an agent")
		}
		if err != nil {
			return &formats.Error{Format: name, At: fmt.Sprintf("%s:%d", f.Name(), l.Number), Err: err, Hint: "try a newer version of rehome, or leave the file out"}
		}
		one = formats.MergeSession{File: file, Group: s.Agent, ID: s.ID, Title: s.Title, Path: named(&s.Head), From: at}
		if s.Parent != nil {
			one.Parent = s.Parent.Session
		}
	}
	if one.ID == "" {
		return end(0)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return end(info.Size())
}

// elements returns what a line adds to the conversation: a message, and each of its parts,
// because a client adds parts to its last message. What else a line says, such as when a
// turn ended or what was compacted since, changes as a session goes on.
func elements(line []byte) (out []string) {
	switch kind := kindOf(line); {
	case kind == "session", kind == "file", len(bytes.TrimSpace(line)) == 0:
		return nil
	case kind != "message":
		return []string{string(line)}
	}
	message, parts := "message", []byte(nil)
	for name, v := range rawjson.Members(line) {
		switch n := string(name); {
		case n == "parts" && parts == nil:
			parts = v
		case n == "parts", n == "id", n == "parent", n == "branch", n == "role":
			message += "\n" + n + string(v)
		}
	}
	out = append(out, message)
	for part := range rawjson.Elements(parts) {
		text := "part"
		for name, v := range rawjson.Members(part) {
			if n := string(name); n != "start" && n != "end" { // of a call that was not finished
				text += "\n" + n + string(v)
			}
		}
		out = append(out, text)
	}
	return out
}

// updated returns the time in the head of a session.
func updated(line []byte) int64 {
	if kindOf(line) != "session" {
		return 0
	}
	var at session.Stamp
	stamp(&at, first(line, "updated"))
	return at.Millis()
}

// rewrite gives a line to a fork. An id can also be a word, or what somebody said: it is
// only replaced where lines name sessions.
func rewrite(dst, line []byte, _ string, ids map[string]string, _ string) (out []byte, titled bool) {
	head := kindOf(line) == "session"
	if head {
		line, titled = retitle(line), true
	}
	return forks.RenameWhere(dst, line, ids, func(_, member string, depth int) bool {
		switch member {
		case "id":
			return head && depth == 1
		case "session": // of parent, or in children
			return head && depth <= 3
		}
		return member == "child" && !head && depth == 3 // of a part
	}), titled
}

// retitle returns a head with the title of a fork.
func retitle(head []byte) []byte {
	at, after := first(head, "title"), first(head, "agent")
	from := cap(head) - cap(at) // both are parts of the head: a capacity says where one begins
	switch title := forks.Title(rawjson.Text(at)); {
	case at != nil:
		out := rawjson.Quote(slices.Clone(head[:from]), []byte(strings.TrimSpace(title)))
		return append(out, head[from+len(at):]...)
	case after != nil:
		from = cap(head) - cap(after) + len(after)
		return slices.Concat(head[:from], []byte(`,"title":"`+strings.TrimSpace(title)+`"`), head[from:])
	}
	return head
}
