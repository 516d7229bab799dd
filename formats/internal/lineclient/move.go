package lineclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/internal/process"
	"rehome/internal/rawjson"
	"rehome/internal/shell"
)

// Move says how sessions follow their folder. What people and models said stays as it is.
type Move struct {
	// Names are the members, by the kind of the line, that say where the session is: slash
	// paths from the line on.
	Names map[string][]string

	// Project is the name of the folder of a project, below that of all sessions. nil: the
	// files of a session stay where they are.
	Project func(cwd string) string

	// Beside are the files next to that of a session that say so, too, by their names, and
	// the names that they have for it: they are YAML, with each value in a line.
	Beside map[string][]string

	// Locks are the files, next to that of a session, with the id of a process that has it
	// open: a pattern. "": there are none.
	Locks string

	// Runs reports whether the client runs that has a file, where it has no such locks.
	Runs func(file string) bool
}

// mover returns the ability of a client to let its sessions follow a folder.
func (c *Client) mover() *formats.Mover {
	if c.Move == nil {
		return nil
	}
	names := slices.Concat(slices.Collect(maps.Values(c.Move.Beside))...)
	for _, paths := range c.Move.Names {
		for _, p := range paths {
			names = append(names, path.Base(p))
		}
	}
	return &formats.Mover{Find: c.findMoved, File: c.moveFile, Members: names, InUse: c.inUse}
}

// inUse is formats.Mover.InUse.
func (c *Client) inUse(file string) error {
	if c.Move.Runs != nil && c.Move.Runs(file) {
		return &formats.Error{At: file, Err: fmt.Errorf("%w: %s runs", formats.ErrBusy, c.Home.Title), Hint: "quit " + c.Home.Title + " and try again"}
	}
	if c.Move.Locks == "" {
		return nil
	}
	list, err := fs.Glob(os.DirFS(filepath.Dir(file)), c.Move.Locks)
	for _, name := range list {
		lock := filepath.Join(filepath.Dir(file), name)
		if pid := process.HeldBy(lock); pid > 0 {
			return &formats.Error{
				At: file, Err: fmt.Errorf("%w: %s has it open, as process %d", formats.ErrBusy, c.Home.Title, pid),
				Hint: fmt.Sprintf("quit %s and try again; if process %d is another program, remove %s", c.Home.Title, pid, lock),
			}
		}
	}
	return err
}

// findMoved is formats.Mover.Find.
func (c *Client) findMoved(ctx context.Context, m formats.Machine, mv *formats.Moved) iter.Seq2[formats.Piece, error] {
	return func(yield func(formats.Piece, error) bool) {
		for _, root := range c.Home.Roots(m) {
			if more, err := c.findIn(ctx, root, mv, yield); err != nil && !yield(formats.Piece{}, err) || !more {
				return
			}
		}
	}
}

// findIn yields the files of the sessions of the folder in one home. It reports whether more
// are wanted.
func (c *Client) findIn(ctx context.Context, root string, mv *formats.Moved, yield func(formats.Piece, error) bool) (bool, error) {
	l, err := formats.Locate(root)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return true, err
	}
	s, err := jsonl.Open(l, c.layout())
	if err != nil {
		return true, jsonl.Failure(ctx, c.Name, root, err)
	}
	defer s.Close()
	var files []*jsonl.File
	for _, f := range s.Files {
		files = append(append(files, f), f.Older...)
	}
	begun := c.begun(ctx, s, files)
	for _, f := range files {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		to, in := mv.Path(c.input(ctx, s, f, "").Head.Workspace)
		switch left := c.stays(f, begun[f.Path]); {
		case !in:
		case left != "":
			p := formats.Piece{ID: f.ID, From: filepath.Join(root, filepath.FromSlash(f.Path)), Left: left,
				Hint: shell.Command("cd", to) + " && " + shell.Command(append(c.Home.Resume[:len(c.Home.Resume):len(c.Home.Resume)], f.ID)...)}
			if !yield(p, nil) {
				return false, nil
			}
		case !c.pieces(root, f, to, yield):
			return false, nil
		}
	}
	return true, nil
}

// begun returns the files that other sessions begin in, by their paths.
func (c *Client) begun(ctx context.Context, s *jsonl.Store, files []*jsonl.File) map[string]bool {
	if c.Bases == nil {
		return nil
	}
	out := map[string]bool{}
	for _, f := range files {
		for _, base := range c.Bases(c.input(ctx, s, f, "")) {
			out[base.Path] = true
		}
	}
	return out
}

// stays returns why a file is not changed; "" if it can be.
func (c *Client) stays(f *jsonl.File, begun bool) string {
	switch {
	case f.Packed():
		return "it is compressed"
	case begun:
		return "another session was forked from it, and counts its bytes"
	}
	return ""
}

// pieces yields what is kept of a session: its own file last.
func (c *Client) pieces(root string, f *jsonl.File, cwd string, yield func(formats.Piece, error) bool) bool {
	own := formats.Piece{ID: f.ID, From: filepath.Join(root, filepath.FromSlash(f.Path)), Cwd: cwd, Root: root, Prompts: true}
	if own.To = own.From; c.Move.Project != nil {
		own.To = filepath.Join(root, c.Home.Folder, c.Move.Project(cwd), filepath.Base(own.From))
	}
	own.InPlace = own.To == own.From
	for name := range c.Move.Beside {
		p := own
		p.From, p.To, p.Of, p.Prompts = filepath.Join(filepath.Dir(own.From), name), filepath.Join(filepath.Dir(own.To), name), own.To, false
		if info, err := os.Lstat(p.From); err == nil && info.Mode().IsRegular() && !yield(p, nil) {
			return false
		}
	}
	return yield(own, nil)
}

// moveFile is formats.Mover.File.
func (c *Client) moveFile(ctx context.Context, from, to string, mv *formats.Moved) (done bool, err error) {
	names, beside := c.Move.Beside[filepath.Base(from)]
	if err := c.inUse(from); err != nil {
		return true, err
	}
	return true, lines.CopyFile(ctx, from, to, jsonl.MaxLine, func(l lines.Line) []lines.Edit {
		if beside {
			return moveValue(l, names, mv.Path)
		}
		return c.moveLine(l, mv.Path)
	})
}

// moveLine returns the new paths of a line that says where the session is.
func (c *Client) moveLine(l lines.Line, moved func(string) (string, bool)) (out []lines.Edit) {
	if !bytes.Contains(l.Bytes, []byte(`"cwd"`)) { // each line that says where the session is has one
		return nil
	}
	line := jsonl.Parse(l)
	if line.Object == nil {
		return nil
	}
	for _, name := range c.Move.Names[c.parse(line).Kind] {
		v := rawjson.At(l.Bytes, strings.Split(name, "/")...)
		if to, in := moved(rawjson.Text(v)); in {
			at := cap(l.Bytes) - cap(v)
			out = append(out, lines.Edit{From: at, To: at + len(v), Text: rawjson.Quote(nil, []byte(to))})
		}
	}
	slices.SortFunc(out, func(a, b lines.Edit) int { return a.From - b.From })
	return out
}

// moveValue returns the new path of a line of YAML.
func moveValue(l lines.Line, names []string, moved func(string) (string, bool)) []lines.Edit {
	name, value, _ := strings.Cut(strings.TrimRight(string(l.Bytes), "\r"), ": ")
	to, in := moved(Unquoted(value))
	if !in || !slices.Contains(names, name) {
		return nil
	}
	at := len(name) + len(": ")
	return []lines.Edit{{From: at, To: at + len(value), Text: quoted(to)}}
}

// Unquoted returns a value of YAML in one line.
func Unquoted(v string) string {
	if v = strings.TrimSpace(v); len(v) < 2 {
		return v
	}
	switch inner := v[1 : len(v)-1]; {
	case v[0] == '\'':
		return strings.ReplaceAll(inner, "''", "'")
	case v[0] == '"':
		return rawjson.Text([]byte(v))
	case v[0] == '|' || v[0] == '>': // a block
		return ""
	}
	return v
}

// quoted returns a value of YAML, in quotes where it could be taken for something else.
func quoted(v string) []byte {
	if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || strings.ContainsRune(":#'\"", r) }) || strings.TrimSpace(v) != v {
		return rawjson.Quote(nil, []byte(v))
	}
	return []byte(v)
}

// better reports whether the first of two files of a session is the one that goes on: the one
// with the later line or, after the folder moved, the one whose folder exists.
func (c *Client) better(s *jsonl.Store, a, b *jsonl.File) bool {
	x, y := c.input(context.Background(), s, a, "").Head, c.input(context.Background(), s, b, "").Head
	if x.Updated != y.Updated {
		return x.Updated.Time().After(y.Updated.Time())
	}
	return exists(x.Workspace) && !exists(y.Workspace)
}

func exists(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}
