package claude

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/loss"
)

const (
	maxLine = 64 << 20 // bytes of an entry; the format's own bound
	ending  = ".jsonl"
	meta    = ".meta.json"
)

// transcript is a file of entries, with the file that describes its subagent.
type transcript struct {
	Key         key
	Lines, Meta string // paths; "" = there is none
	Entries     int64
	Bytes       int64 // of the entries, a newline after each
	Sum         digest
	Last        time.Time // of the newest entry that has a time
}

// source is a folder of Claude Code: a config folder, or the folder of a project.
type source struct {
	name        string // of the folder, for messages
	root        *os.Root
	transcripts []*transcript // by key
	lost        losses
	refuse      func(traits) string      // why a layout cannot hold an entry, "" if it can
	change      func(traits) []loss.Code // how it changes an entry
}

// openSource lists the transcripts of a folder or a file and reads each once. Entries of all
// projects belong to project, if it is not empty.
func openSource(ctx context.Context, at, project string, s *source) error {
	only, dir := "", at
	info, err := os.Stat(at)
	if err == nil && !info.IsDir() {
		dir, only = filepath.Split(at)
	}
	if err == nil {
		s.root, err = os.OpenRoot(filepath.Clean(dir))
	}
	if err != nil {
		return &formats.Error{At: at, Err: formats.Cause(err)}
	}
	s.name = dir
	base := ""
	if info, err := s.root.Stat("projects"); err == nil && info.IsDir() && only == "" {
		base = "projects/"
	} else if project == "" {
		return &formats.Error{At: at, Err: errors.New("not a config folder, so the project of its sessions is unknown"), Hint: "name the project in the address: ?project=KEY"}
	}
	found := map[key]*transcript{}
	err = fs.WalkDir(s.root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &formats.Error{At: s.at(p), Err: formats.Cause(err)}
		case ctx.Err() != nil:
			return ctx.Err()
		case p == "." || e.IsDir() || only != "" && p != only:
			return nil
		}
		k, isMeta, ok := keyAt(p, base)
		if !ok || !e.Type().IsRegular() {
			s.lost.add(loss.ServerFile, p)
			return nil
		}
		if project != "" {
			k.Project = project
		}
		t := found[k]
		if t == nil {
			t = &transcript{Key: k}
			found[k] = t
			s.transcripts = append(s.transcripts, t)
		}
		to := &t.Lines
		if isMeta {
			to = &t.Meta
		}
		if *to != "" {
			return &formats.Error{At: s.at(p), Err: fmt.Errorf("the same session as %s", *to)}
		}
		*to = p
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(s.transcripts, func(a, b *transcript) int { return a.Key.compare(b.Key) })
	kept := s.transcripts[:0]
	for _, t := range s.transcripts {
		if err := s.measure(ctx, t); err != nil {
			return err
		}
		if t.Entries > 0 {
			kept = append(kept, t)
		} else {
			s.lost.add(loss.ServerEmpty, t.Lines+t.Meta)
		}
	}
	if s.transcripts = kept; len(kept) == 0 {
		return &formats.Error{At: at, Err: errors.New("no sessions of Claude Code")}
	}
	return nil
}

// keyAt returns the key of a file, and false if this layout has no place for it. Only files of
// subagents, below a session's folder, are described by another file.
func keyAt(p, base string) (k key, isMeta, ok bool) {
	rest, ok := strings.CutPrefix(p, base)
	if base == "" {
		rest = "-/" + rest
	}
	if !ok || strings.Count(rest, "/") == 0 {
		return key{}, false, false
	}
	if stem, ok := strings.CutSuffix(rest, ending); ok {
		return keyOf(stem), false, true
	}
	stem, ok := strings.CutSuffix(rest, meta)
	if !ok || strings.Count(stem, "/") < 3 {
		return key{}, false, false
	}
	return keyOf(stem), true, true
}

// sessions returns the transcripts of each session.
func (s *source) sessions() (out [][]*transcript) {
	for i, t := range s.transcripts {
		if i == 0 || t.Key.session() != s.transcripts[i-1].Key.session() {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], t)
	}
	return out
}

func (s *source) close() {
	if s.root != nil {
		s.root.Close()
	}
}

func (s *source) at(p string) string { return filepath.Join(s.name, filepath.FromSlash(p)) }

// measure reads a transcript and reports what its layout loses.
func (s *source) measure(ctx context.Context, t *transcript) error {
	sum := newSummer()
	err := s.read(ctx, t, true, func(e entry) error {
		t.Entries++
		t.Bytes += int64(len(e.Line)) + 1
		sum.add(e.Sum)
		if at := e.Time(); at.After(t.Last) {
			t.Last = at
		}
		return nil
	})
	t.Sum = digest(sum.h.Sum(nil))
	return err
}

// entries calls yield with the entries of a transcript, and fails if they are not those that were
// measured.
func (s *source) entries(ctx context.Context, t *transcript, yield func(entry) error) error {
	sum := newSummer()
	err := s.read(ctx, t, false, func(e entry) error {
		sum.add(e.Sum)
		return yield(e)
	})
	if err == nil && !sum.is(t) {
		err = formats.Changed("claude-code", s.at(t.Lines+t.Meta))
	}
	return err
}

// summer sums up the entries of a transcript.
type summer struct {
	h hash.Hash
	n int64
}

func newSummer() *summer { return &summer{h: sha256.New()} }

func (s *summer) add(d digest) {
	s.h.Write(d[:])
	s.n++
}

func (s *summer) is(t *transcript) bool { return s.n == t.Entries && digest(s.h.Sum(nil)) == t.Sum }
