// Package worktree asks git what is committed.
//
// The repository may be anybody's, and its configuration can name programs to run.
// So git only lists what is committed, from its object database: that runs no hook,
// no filter, no file system monitor, takes no lock and fetches nothing. Whether a
// file is as it was committed is decided here, by the bytes of the file. Blobs and Add,
// which finish a merge, read files of the work tree, and run nothing, either.
package worktree

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Committed are the files below a folder as git has them in the current commit.
type Committed struct {
	dir string
	ids map[string]string // object id by slash path below dir
}

// List lists the committed files below a folder. It is empty if there is no git, no
// repository or no commit.
func List(ctx context.Context, dir string) *Committed {
	ids, err := list(ctx, dir, "HEAD")
	if err != nil {
		ids = nil // no git, not a repository, or no commit
	}
	return &Committed{dir: dir, ids: ids}
}

// list returns the ids of the files of a commit by their slash paths below dir. Links
// are not files.
func list(ctx context.Context, dir, rev string) (map[string]string, error) {
	cmd := command(ctx, dir, "ls-tree", "-r", "-z", rev)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	ids, in := map[string]string{}, bufio.NewReader(out)
	for {
		line, err := in.ReadString(0)
		if err != nil {
			break
		}
		// <mode> blob <id>\t<path>
		what, name, ok := strings.Cut(strings.TrimSuffix(line, "\x00"), "\t")
		if f := strings.Fields(what); ok && len(f) == 3 && f[1] == "blob" && f[0] != "120000" {
			ids[name] = f[2]
		}
	}
	return ids, cmd.Wait()
}

// command returns a command of git that reads the object database and nothing else.
func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "--no-replace-objects", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
		"-c", "protocol.allow=never"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(environment(), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return cmd
}

// environment returns the environment without what tells git of another repository:
// this may run in a hook.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GIT_") })
}

// Clean reports whether a file, by its slash path below the folder, is as it was
// committed.
func (c *Committed) Clean(name string) bool {
	id := c.ids[name]
	if id == "" {
		return false
	}
	var h hash.Hash
	switch len(id) {
	case 2 * sha1.Size:
		h = sha1.New()
	case 2 * sha256.Size:
		h = sha256.New()
	default:
		return false
	}
	want, err := hex.DecodeString(id)
	if err != nil {
		return false
	}
	f, err := os.Open(filepath.Join(c.dir, filepath.FromSlash(name)))
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	fmt.Fprintf(h, "blob %d\x00", info.Size())
	n, err := io.Copy(h, f)
	return err == nil && n == info.Size() && bytes.Equal(h.Sum(nil), want)
}
