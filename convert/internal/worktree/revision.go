package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Revision is a commit whose files can be read.
type Revision struct {
	ctx context.Context
	top string // root of the work tree, resolved
	ids map[string]string
}

// Top returns the root of the work tree that holds a resolved path, "" if none does.
func Top(path string) string {
	for ; ; path = filepath.Dir(path) {
		if _, err := os.Lstat(filepath.Join(path, ".git")); err == nil {
			return path
		}
		if path == filepath.Dir(path) {
			return ""
		}
	}
}

// Open finds a commit by the name it has in git, such as origin/main or an id, in
// the work tree with the root top.
func Open(ctx context.Context, top, rev string) (*Revision, error) {
	cmd := command(ctx, top, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	id, err := cmd.Output()
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimPrefix(problem.String(), "fatal: "), "\n")
		if line == "" {
			line = err.Error()
		}
		return nil, fmt.Errorf("git cannot read this commit: %s", line)
	}
	ids, err := list(ctx, top, strings.TrimSpace(string(id)))
	if err != nil {
		return nil, fmt.Errorf("git cannot list the files of this commit: %w", err)
	}
	return &Revision{ctx, top, ids}, nil
}

// Read returns a file of the commit, nil if there is none. The path is that of the
// file in the work tree; limit is its max size.
func (r *Revision) Read(path string, limit int64) ([]byte, error) {
	rel, err := filepath.Rel(r.top, path)
	if err != nil {
		return nil, err
	}
	id := r.ids[filepath.ToSlash(rel)]
	if id == "" {
		return nil, nil
	}
	cmd := command(r.ctx, r.top, "cat-file", "blob", id)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(out, limit+1))
	if int64(len(text)) > limit {
		out.Close() // git fails to write the rest
		err = errors.New("too large")
		_ = cmd.Wait()
		return nil, err
	}
	return text, errors.Join(err, cmd.Wait())
}
