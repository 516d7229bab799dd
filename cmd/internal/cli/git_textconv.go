package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/formats"
	"rehome/formats/session"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// textconv prints the sessions of a file, so that files that differ never look the same.
// What is not a session is printed too, since git stops at an error. Files beside it do not
// count: git has no others to compare with.
func textconv(a *console.App, path string) (err error) {
	dir, err := scratch.New("", "textconv")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	name := filepath.Base(path)
	at := filepath.Join(dir.Path, name)
	if err := fsx.Copy(path, at, 0o600); err != nil {
		return err
	}
	v := &viewer{App: a, cmd: &showCmd{NoPager: true, Tools: string(prose.Full), Thinking: true, All: true, History: true}, format: "text",
		source: name, digests: true}
	v.Out.Quiet = true
	_, w, _ := a.Out.Paged(a.Ctx, false)
	out, shown, lines := &countingWriter{w: w}, false, sha256.New()
	for _, path := range []string{at, dir.Path} { // one file of an agent as lines is a store, too
		decode := v.storeDecoder(source{path: path})
		err = v.print(a.Ctx, out, func(ctx context.Context, view formats.View) iter.Seq2[*session.Session, error] {
			return each(decode(ctx, view), func(s *session.Session) *session.Session {
				s = linesTo(lines, s)
				if path == dir.Path {
					s.Missing = nil // the other files, which git compares by themselves
				}
				return s
			})
		}, &shown)
		if out.n > 0 {
			break
		}
	}
	p := screen.NewPage(w, false)
	if out.n == 0 {
		return plainFile(w, at)
	}
	if err != nil {
		p.Linef("[%s]", screen.Visible(formats.ReplacePath(err, at, name).Error()))
	}
	return errors.Join(restOf(p, at, lines.Sum(nil)), p.Err())
}

// linesTo returns a session that writes its canonical lines to w as it is read.
func linesTo(w io.Writer, s *session.Session) *session.Session {
	line := append(session.AppendHead(nil, s), '\n')
	w.Write(line)
	out := prose.Tap(s, func(m *session.Message) {
		line = append(session.AppendMessage(line[:0], m), '\n')
		w.Write(line)
	})
	if s.Files != nil {
		out.Files = func(yield func(*session.File, error) bool) {
			for f, err := range s.Files {
				if err == nil {
					line = append(session.AppendFile(line[:0], f), '\n')
					w.Write(line)
				}
				if !yield(f, err) {
					return
				}
			}
		}
	}
	return out
}

// restOf prints the digest of a file that says more than its sessions, or says it in another
// way: unless it is the lines that have this digest.
func restOf(p *screen.Page, path string, lines []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if have := sum.Sum(nil); !bytes.Equal(have, lines) {
		p.Linef("\n[file: %d bytes, sha256:%s]", n, hex.EncodeToString(have[:16]))
	}
	return err
}

// plainFile prints a file that holds no sessions: text line by line, and the digest of what
// these lines do not tell.
func plainFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, printed := bufio.NewReaderSize(f, 64<<10), sha256.New()
	p := screen.NewPage(io.MultiWriter(w, printed), false)
	head, _ := b.Peek(8 << 10)
	for bytes.IndexByte(head, 0) < 0 { // as git tells binary files
		line, more, err := b.ReadLine() // of a long line, its pieces
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if more {
			line = append(bytes.Clone(line), `\`...)
		}
		p.Line(screen.Lines(string(line)))
	}
	return errors.Join(restOf(p, path, printed.Sum(nil)), p.Err())
}
