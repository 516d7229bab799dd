package worktree

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxExtracted bounds what Extract writes, in bytes.
const maxExtracted = 8 << 30

// Extract writes the files of the commit at and below slash paths to the same paths
// below a folder, which is private, and reports whether there are any. Links are left out.
func (r *Revision) Extract(dir string, paths ...string) (some bool, err error) {
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	var names []string
	for n := range r.ids {
		if wanted[n] || Within(wanted, n) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return false, nil
	}
	slices.Sort(names)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	cmd := command(r.ctx, r.top, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return false, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return false, err
	}
	go func() {
		defer in.Close()
		for _, n := range names {
			if _, err := io.WriteString(in, r.ids[n]+"\n"); err != nil {
				return
			}
		}
	}()
	b, left := bufio.NewReaderSize(out, 1<<16), int64(maxExtracted)
	for _, n := range names {
		if err = extract(b, root, n, &left); err != nil {
			err = fmt.Errorf("%s: %w", n, err)
			break
		}
	}
	out.Close()
	if wait := cmd.Wait(); err == nil {
		err = wait
	}
	return true, errors.Join(err, r.ctx.Err())
}

// Within reports whether a slash path is below one of some folders.
func Within(folders map[string]bool, name string) bool {
	for name != "." && name != "/" {
		if name = path.Dir(name); folders[name] {
			return true
		}
	}
	return false
}

// extract writes the next object of git cat-file --batch to a file.
func extract(b *bufio.Reader, root *os.Root, name string, left *int64) error {
	line, err := b.ReadString('\n') // <id> blob <size>
	if err != nil {
		return err
	}
	f := strings.Fields(line)
	if len(f) != 3 || f[1] != "blob" {
		return errors.New("its content is not in this clone")
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return err
	}
	if *left -= size; size < 0 || *left < 0 {
		return errors.New("the commit has too much at this path")
	}
	at := filepath.FromSlash(name)
	if !filepath.IsLocal(at) {
		return fs.ErrInvalid
	}
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o777); err != nil {
		return err
	}
	to, err := root.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = io.CopyN(to, b, size)
	if err = errors.Join(err, to.Close()); err == nil {
		_, err = b.Discard(1)
	}
	return err
}
