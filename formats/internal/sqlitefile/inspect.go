package sqlitefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"rehome/formats"
)

const magic = "SQLite format 3\x00"

// IsDatabase reports whether a file that begins so is a SQLite database.
func IsDatabase(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// resolve finds the real file behind a path. Side files lie beside that one,
// not beside a symbolic link to it. Nothing but a regular file is ever opened:
// opening a fifo would wait for a writer.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return "", unreadable(path, err)
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "", unreadable(path, err)
	case info.IsDir():
		return "", &formats.Error{At: path, Err: errors.New("a folder, not a database file"), Hint: "name the database file inside it"}
	case !info.Mode().IsRegular():
		return "", &formats.Error{At: path, Err: fmt.Errorf("not a regular file (%s)", info.Mode().Type()), Hint: "name a regular file"}
	}
	return real, nil
}

// unreadable puts an operating system's refusal in words.
func unreadable(path string, err error) error {
	e := &formats.Error{At: path, Err: formats.Cause(err)}
	switch {
	case errors.Is(err, fs.ErrPermission):
		e.Err, e.Hint = fmt.Errorf("cannot be read: %w", e.Err), "run as the owner of the file, or make it readable"
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "check the path"
	}
	return e
}

// readHead reads the beginning of a file, as much as judging it takes.
func readHead(real string) ([]byte, error) {
	f, err := os.Open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// The result codes of SQLite that are told apart.
const (
	codeBusy       = 5
	codeLocked     = 6
	codeIO         = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeTooBig     = 18
	codeConstraint = 19
	codeNotDB      = 26
)

func code(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// explain names file, table, cause and cure of an error while reading.
func explain(ctx context.Context, path, table string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e := (*formats.Error)(nil); errors.As(err, &e) {
		if e.At != "" {
			return err
		}
		outer := &formats.Error{At: path, Err: err}
		if e.Pointer == "" && table != "" {
			outer.Pointer = "table " + table
		}
		return outer
	}
	e := &formats.Error{At: path, Err: err}
	if table != "" {
		e.Pointer = "table " + table
	}
	switch n := code(err); {
	case n == codeCorrupt && strings.Contains(err.Error(), "malformed database schema"):
		e.Err, e.Hint = fmt.Errorf("cannot read its schema: %w", err), "restore it from a backup, or try a newer version of rehome"
	case n == codeBusy, n == codeLocked:
		e.Err, e.Hint = fmt.Errorf("%w: %w", formats.ErrBusy, err), "stop the client that uses it and try again"
	case n == codeCorrupt:
		e.Err, e.Hint = fmt.Errorf("malformed pages: %w", err), "run `sqlite3 FILE .recover` to save what is readable, or restore a backup"
	case n == codeNotDB:
		e.Err, e.Hint = fmt.Errorf("not a database that SQLite can read: %w", err), "restore it from a backup, or try a newer version of rehome"
	case n == codeFull:
		e.Err, e.Hint = fmt.Errorf("%w: %w", formats.ErrFull, err), "free some space, or set TMPDIR to another folder"
	case n == codeTooBig:
		e.Err, e.Hint = fmt.Errorf("row or value longer than the file, or than %s: %w", size(mostValue), err), "run `sqlite3 FILE .recover` to save what is readable, or restore a backup"
	case n == codeIO:
		e.Hint = "check the disk and the connection to it"
	}
	return e
}
