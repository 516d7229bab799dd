package mv

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/session"
)

// bugHint is the hint of errors that no input should be able to cause.
const bugHint = "nothing was written for it: this is a bug in rehome, please report it"

// verify decodes the copy of a session and its original, and compares all of them but the
// folder.
func (m *mover) verify(ctx context.Context, f *family, p *piece) error {
	if m.f.Sessions == nil {
		return nil
	}
	if p.InPlace && !p.Folder { // what it begins in, and what goes on with it, is not beside the copy
		f.Title = m.title(ctx, p)
		return m.verifyLines(ctx, p)
	}
	differ := func(what string) error {
		return &formats.Error{Format: m.f.Name, At: p.From, Op: "verify", Err: errors.New(what), Hint: bugHint}
	}
	was, stopWas, err := m.decode(ctx, p.From, p.Cwd)
	if err != nil {
		return err
	}
	defer stopWas()
	is, stopIs, err := m.decode(ctx, p.staged, p.Cwd)
	if err != nil {
		return err
	}
	defer stopIs()
	for n := 1; ; n++ {
		a, err, more := was()
		b, errB, moreB := is()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case more != moreB, (err == nil) != (errB == nil):
			return differ(fmt.Sprintf("the copy has other sessions than the original, from session %d on", n))
		case !more:
			return nil
		case err != nil:
			continue // unreadable in both; its bytes were compared when they were copied
		}
		if n == 1 && f.Title == "" {
			f.Title = a.Title
		}
		if at := m.differs(a, b); at != "" {
			return differ("the copy of session " + a.ID + " differs in " + at)
		}
	}
}

// title returns the title of a session.
func (m *mover) title(ctx context.Context, p *piece) string {
	l, err := formats.Locate(p.From)
	if err != nil {
		return ""
	}
	for h, err := range m.f.Sessions.Heads(ctx, l, formats.FullView(1)) {
		if err == nil {
			return h.Title
		}
	}
	return ""
}

func (m *mover) decode(ctx context.Context, path, cwd string) (func() (*session.Session, error, bool), func(), error) {
	l, err := formats.Locate(path)
	if err != nil {
		return nil, nil, err
	}
	v := formats.FullView(1)
	v.Cwd = cwd
	next, stop := iter.Pull2(m.f.Sessions.Decode(ctx, l, v, session.Selection{History: true}))
	return next, stop, nil
}

// differs returns in what two sessions differ, "" if in nothing but the folder.
func (m *mover) differs(a, b *session.Session) string {
	if !m.same(session.AppendHead(nil, a), session.AppendHead(nil, b), "workspace") {
		return "its head"
	}
	if n := unequal(a.Messages, b.Messages, func(a, b *session.Message) bool {
		return m.same(session.AppendMessage(nil, a), session.AppendMessage(nil, b))
	}); n > 0 {
		return fmt.Sprintf("message %d", n)
	}
	if n := unequal(a.Files, b.Files, func(a, b *session.File) bool {
		return m.same(session.AppendFile(nil, a), session.AppendFile(nil, b), "path")
	}); n > 0 {
		return fmt.Sprintf("file %d", n)
	}
	return ""
}

// unequal returns the number of the first values of two streams that differ, 0 if none do.
func unequal[T any](a, b iter.Seq2[*T, error], same func(a, b *T) bool) int {
	none := func(func(*T, error) bool) {}
	if a == nil {
		a = none
	}
	if b == nil {
		b = none
	}
	next, stop := iter.Pull2(b)
	defer stop()
	n := 0
	for x, err := range a {
		n++
		y, errB, more := next()
		if !more || (err == nil) != (errB == nil) || err == nil && !same(x, y) {
			return n
		}
	}
	if _, _, more := next(); more {
		return n + 1
	}
	return 0
}

// verifyLines compares a file of lines with its copy.
func (m *mover) verifyLines(ctx context.Context, p *piece) error {
	was, err := os.Open(p.From)
	if err != nil {
		return err
	}
	defer was.Close()
	is, err := os.Open(p.staged)
	if err != nil {
		return err
	}
	defer is.Close()
	a, b := bufio.NewReader(was), bufio.NewReader(is)
	for n := 1; ; n++ {
		x, errX := a.ReadBytes('\n')
		y, errY := b.ReadBytes('\n')
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case (errX == nil) != (errY == nil) || !m.same(x, y):
			return &formats.Error{Format: m.f.Name, At: p.From, Op: "verify", Err: fmt.Errorf("the copy differs in line %d", n), Hint: bugHint}
		case errX == io.EOF:
			return nil
		case errX != nil:
			return errX
		}
	}
}

// same reports whether two lines are equal, but for members of these names, and those that the
// format names, whose value is a path in the folder that was moved.
func (m *mover) same(a, b []byte, names ...string) bool {
	if bytes.Equal(a, b) {
		return true
	}
	names = slices.Concat(names, []string{"cwd"}, m.f.Mover.Members)
	var x, y any
	for line, to := range map[*any][]byte{&x: a, &y: b} {
		d := json.NewDecoder(bytes.NewReader(to))
		d.UseNumber()
		if d.Decode(line) != nil {
			return m.sameText(string(a), string(b), names)
		}
	}
	return m.sameValue(x, y, "", names)
}

// sameText is same for a line that is not JSON but YAML: a name and a value, with quotes where
// that needs some.
func (m *mover) sameText(a, b string, names []string) bool {
	plain := strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace
	name, was, named := strings.Cut(a, ": ")
	return named && slices.Contains(names, name) && slices.ContainsFunc(m.mv.Old, func(old string) bool {
		return plain(name+": "+strings.Replace(was, old, m.mv.New, 1)) == plain(b)
	})
}

func (m *mover) sameValue(a, b any, name string, names []string) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		extra, _ := x["name"].(string)
		for k, v := range x {
			w, ok := y[k]
			if k == "raw" { // a session.Extra
				k = extra
			}
			if !ok || !m.sameValue(v, w, k, names) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !m.sameValue(x[i], y[i], "", names) {
				return false
			}
		}
		return true
	case string:
		to, in := m.mv.Path(x)
		return a == b || in && slices.Contains(names, name) && b == to
	}
	return a == b
}
