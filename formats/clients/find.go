package clients

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
)

// Store is what a client keeps in one folder.
type Store struct {
	Files     []string // slash paths below the folder, sorted
	Databases []string
	LeftOut   []string // what matches, but is not kept: secrets, links, what is not a file
}

// Store lists what the client keeps below a folder. Links are not followed. The error
// is about folders that cannot be read; the rest is listed.
func (c *Client) Store(ctx context.Context, root string) (*Store, error) {
	s := &Store{}
	main, beside := []string{}, []string{}
	all := slices.Concat(c.Keep, c.Beside, c.Databases, c.SecretFiles)
	err := walk(ctx, root, all, func(rel string, e fs.DirEntry) {
		switch {
		case !utf8.ValidString(rel):
			s.LeftOut = append(s.LeftOut, strings.ToValidUTF8(rel, "\uFFFD")+" (its name is not UTF-8)")
		case e.Type()&fs.ModeSymlink != 0:
			s.LeftOut = append(s.LeftOut, rel+" (a link)")
		case matches(rel, c.SecretFiles...):
			s.LeftOut = append(s.LeftOut, rel)
		case matches(rel, c.skip...) || c.isLog(rel):
		case !e.Type().IsRegular():
			s.LeftOut = append(s.LeftOut, rel+" (not a regular file)")
		case matches(rel, c.Databases...):
			if !isEmpty(filepath.Join(root, filepath.FromSlash(rel))) {
				s.Databases = append(s.Databases, rel)
			}
		case matches(rel, c.Keep...):
			main = append(main, rel)
		default:
			beside = append(beside, rel)
		}
	})
	if len(main)+len(s.Databases) > 0 {
		s.Files = append(main, beside...)
	}
	slices.Sort(s.Files)
	return s, err
}

// isLog reports whether a file is a log of a database, which is read with that.
func (c *Client) isLog(rel string) bool {
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		if of, ok := strings.CutSuffix(rel, end); ok && matches(of, c.Databases...) {
			return true
		}
	}
	return false
}

// isEmpty reports whether a database has just been created.
func isEmpty(path string) bool {
	for _, side := range []string{"", "-wal"} {
		if info, err := os.Stat(path + side); err == nil && info.Size() > 0 {
			return false
		}
	}
	return true
}

// walk passes the files below a folder that match a pattern, and links on the way to
// such files.
func walk(ctx context.Context, root string, patterns []string, found func(rel string, e fs.DirEntry)) (err error) {
	if real, e := filepath.EvalSymlinks(root); e == nil {
		root = real
	}
	if e := filepath.WalkDir(root, func(at string, e fs.DirEntry, failed error) error {
		rel, _ := filepath.Rel(root, at)
		rel = filepath.ToSlash(rel)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(failed, fs.ErrNotExist):
		case failed != nil:
			err = errors.Join(err, &formats.Error{At: at, Err: formats.Cause(failed)})
		case rel == ".":
		case e.IsDir() && (!leadsTo(rel, patterns...) || formats.IsStaging(e.Name())):
			return fs.SkipDir
		case !e.IsDir() && (matches(rel, patterns...) || e.Type()&fs.ModeSymlink != 0 && leadsTo(rel, patterns...)):
			found(rel, e)
		}
		return nil
	}); e != nil {
		return e
	}
	return err
}

// IsSession reports whether a file is one session, by its slash path below a home.
func (c *Client) IsSession(rel string) bool {
	return matches(rel, c.session...) && !matches(rel, c.skip...)
}

// countTime is how long counting the sessions of a database may take.
const countTime = 500 * time.Millisecond

// CountRows returns the number of sessions in a database, -1 if it is not known.
func (c *Client) CountRows(ctx context.Context, path string) int {
	if c.Rows == "" {
		return 0
	}
	ctx, stop := context.WithTimeout(ctx, countTime)
	defer stop()
	n, err := sqlitefile.Count(ctx, path, c.Rows)
	if err != nil {
		return -1
	}
	return int(n)
}

// Summary says what a machine has of a client.
type Summary struct {
	*Client
	Sessions int      // -1 if not known
	Places   []string // folders with sessions
}

// Survey counts the sessions of the clients of a machine that no format reads. It lists
// folders, and reads no file but the databases. Clients without sessions are left out.
func Survey(ctx context.Context, reg *formats.Registry, m formats.Machine, projects []string) (out []Summary) {
	for _, c := range Unread(reg) {
		for _, root := range c.Roots(m, projects) {
			n := c.count(ctx, root)
			if n == 0 {
				continue
			}
			i := slices.IndexFunc(out, func(s Summary) bool { return s.Name == c.Name })
			if i < 0 {
				i = len(out)
				out = append(out, Summary{Client: c})
			}
			if s := &out[i]; n < 0 || s.Sessions < 0 {
				s.Sessions = -1
			} else {
				s.Sessions += n
			}
			out[i].Places = append(out[i].Places, root)
		}
	}
	return out
}

// count returns the number of sessions below a folder. Clients that moved to a database
// leave the files of the same sessions behind: the larger number counts.
func (c *Client) count(ctx context.Context, root string) int {
	inFiles, inRows := 0, 0
	// An unreadable folder has no sessions that could be counted; a backup reports it.
	_ = walk(ctx, root, slices.Concat(c.session, c.Databases), func(rel string, e fs.DirEntry) {
		switch {
		case !e.Type().IsRegular():
		case matches(rel, c.Databases...):
			if n := c.CountRows(ctx, filepath.Join(root, filepath.FromSlash(rel))); n < 0 || inRows < 0 {
				inRows = -1
			} else {
				inRows += n
			}
		case c.IsSession(rel):
			inFiles++
		}
	})
	if inRows < 0 {
		return -1
	}
	return max(inFiles, inRows)
}
