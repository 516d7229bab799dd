package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/internal/fsx"
)

const digestPrefix = "sha256:"

func sumText(h hash.Hash) string { return digestPrefix + hex.EncodeToString(h.Sum(nil)) }

// copyTries is how often a file is copied that changes while it is read.
const copyTries = 8

// copyStable copies a file with its mode and time, reads the copy again, and returns
// the state of the file that was copied.
func copyStable(src, dst string) (fs.FileInfo, string, error) {
	for range copyTries {
		info, digest, err := copyOnce(src, dst)
		if err != nil {
			return nil, "", err
		}
		after, err := os.Stat(src)
		if err != nil {
			return nil, "", err
		}
		if after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) || !os.SameFile(after, info) {
			continue
		}
		again, err := fileDigest(dst)
		if err != nil {
			return nil, "", err
		}
		if again != digest {
			return nil, "", &formats.Error{At: dst, Err: errors.New("reads back differently from what was written"), Hint: "check the disk"}
		}
		return info, digest, errors.Join(os.Chmod(dst, info.Mode().Perm()|0o400), os.Chtimes(dst, info.ModTime(), info.ModTime()))
	}
	return nil, "", &formats.Error{At: src, Err: formats.ErrBusy, Hint: "run it again when its client is idle"}
}

func copyOnce(src, dst string) (fs.FileInfo, string, error) {
	in, err := os.Open(src)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, "", err
	}
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, info.Size()))
	if err == nil && n != info.Size() {
		err = &formats.Error{At: src, Err: formats.ErrBusy, Hint: "run it again when its client is idle"}
	}
	return info, sumText(sum), errors.Join(err, out.Close())
}

func fileDigest(path string) (string, error) {
	sum, err := fsx.Digest(path)
	return digestPrefix + sum, err
}

// textFiles returns the files of an archive and its sidecar, as slash paths below the
// folder of the archive, sorted. Anything but regular files is an error: no backup
// has it.
func textFiles(text string) (out []string, err error) {
	err = filepath.WalkDir(text, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return &formats.Error{At: p, Err: errors.New("not a regular file")}
		}
		rel, err := filepath.Rel(text, p)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	if info, e := os.Lstat(text + formats.SidecarSuffix); e == nil {
		if !info.Mode().IsRegular() {
			return nil, &formats.Error{At: text + formats.SidecarSuffix, Err: errors.New("not a regular file")}
		}
		out = append(out, "../"+filepath.Base(text)+formats.SidecarSuffix)
	}
	slices.Sort(out)
	return out, err
}

// treeDigest returns the digest, number and size of the files of an archive. Files of
// which known returns the digest are not read.
func treeDigest(text string, known func(rel string, info fs.FileInfo) string) (digest string, files, bytes int64, err error) {
	list, err := textFiles(text)
	if err != nil {
		return "", 0, 0, err
	}
	sum := sha256.New()
	for _, rel := range list {
		at := filepath.Join(text, filepath.FromSlash(rel))
		info, err := os.Lstat(at)
		if err != nil {
			return "", 0, 0, err
		}
		one := ""
		if known != nil {
			one = known(rel, info)
		}
		if one == "" {
			if one, err = fileDigest(at); err != nil {
				return "", 0, 0, err
			}
		}
		fmt.Fprintf(sum, "%q %s\n", rel, one)
		files, bytes = files+1, bytes+info.Size()
	}
	return sumText(sum), files, bytes, nil
}

// linkPrevious links what a store of the new snapshot takes over from the previous
// one.
func (r *run) linkPrevious(ctx context.Context, s *Store) error {
	if s.Text == "" {
		return nil
	}
	old := r.prev.find(s.Client, s.Path)
	to := filepath.Join(r.tree, filepath.FromSlash(s.Text))
	var list []string
	switch {
	case old == nil || old.Text == "":
		return nil
	case s.Kind == filesKind:
		for _, f := range s.List {
			list = append(list, f.Path)
		}
	case exists(to):
		return nil
	}
	from := filepath.Join(r.prevDir, filepath.FromSlash(old.Text))
	if s.Kind == archiveKind {
		var err error
		if list, err = textFiles(from); err != nil {
			return incomplete(err)
		}
	}
	for _, rel := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if at := filepath.Join(to, filepath.FromSlash(rel)); !exists(at) {
			if err := linkFile(filepath.Join(from, filepath.FromSlash(rel)), at); err != nil {
				return incomplete(err)
			}
		}
	}
	return nil
}

func incomplete(err error) error {
	if stage.DiskFull(err) {
		return err
	}
	return fmt.Errorf("the previous snapshot is incomplete: %w", &formats.Error{Err: formats.Cause(err), Hint: "move that snapshot away, and run it again"})
}

// linkFile links a file of a snapshot, or copies it where the disk has no links.
func linkFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &formats.Error{At: from, Err: errors.New("not a regular file")}
	}
	if os.Link(from, to) == nil {
		return nil
	}
	_, _, err = copyStable(from, to)
	return err
}
