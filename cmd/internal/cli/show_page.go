package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/internal/console"
	htmlpage "rehome/cmd/internal/page"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/scratch"
)

// pageFile reports whether --out names the page of one session, not a folder.
func pageFile(out string) bool {
	ext := strings.ToLower(filepath.Ext(out))
	return ext == ".html" || ext == ".htm"
}

// pages writes a page for each session: to files, or to stdout. A page is whole before
// anybody sees it.
func (v *viewer) pages(list []source) error {
	if len(list) > 1 && (v.cmd.Out == "" || pageFile(v.cmd.Out)) {
		return &formats.Error{Err: fmt.Errorf("a page holds one session, and %d were named", len(list)),
			Hint: "pass --out DIR, for a page of each"}
	}
	if v.cmd.Out != "" {
		return v.export(list)
	}
	if console.IsTerminal(v.Out.Stdout) {
		return &formats.Error{At: "stdout", Err: errors.New("is a terminal"), Hint: "pass --out FILE.html, or redirect the output to a file"}
	}
	f, err := scratch.NewFile("page")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := v.stdoutPage(f, list[0]); err != nil {
		return err
	}
	if err := v.checkPage(f); err != nil {
		return &formats.Error{At: list[0].path, Err: err, Hint: formats.Hint(err)}
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		_, err = io.Copy(v.Out.Stdout, f)
	}
	v.losses()
	return err
}

// errSeveral is the error of a source for one page.
func errSeveral(at string) error {
	return &formats.Error{At: at, Err: errors.New("holds several sessions"), Hint: "save it to a file, and name one of them"}
}

// stdoutPage writes the page of a source.
func (v *viewer) stdoutPage(w io.Writer, src source) error {
	v.source, v.current = src.path, src
	decode := v.storeDecoder(src)
	turns, err := v.resolveTurns(v.Ctx, decode)
	if err == nil {
		err = v.checkSecrets(src, turns)
	}
	if err != nil {
		return err
	}
	found := false
	for s, err := range decode(v.Ctx, v.view(v.lost.Add)) {
		if err == nil && found {
			err = errSeveral(src.path)
		}
		if err == nil {
			found = true
			err = v.write(w, s, turns)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return &formats.Error{At: src.path, Err: errors.New("no sessions found")}
	}
	return v.Ctx.Err()
}

// writePage writes a session as a page, with its subagents in their places.
func (v *viewer) writePage(w io.Writer, s *session.Session, o prose.Options) error {
	src := v.current
	o.Linear = !v.cmd.History // of subagents, too
	return htmlpage.Write(w, s, htmlpage.Options{
		Options: o, Full: v.cmd.Full, NoThinking: v.cmd.NoThinking,
		Client: func(client string) string { return console.ClientName(v.Reg, client) },
		Child: func(id string) iter.Seq2[*session.Session, error] {
			if v.children != nil && !v.children[id] {
				return nil
			}
			child := source{path: src.path, session: id, folder: src.folder}
			return v.storeDecoder(child)(v.Ctx, v.view(v.lost.Add))
		},
		Losses: func() (out []screen.Safe) {
			for _, l := range v.lossLines() {
				out = append(out, screen.Visible(l))
			}
			return out
		},
	})
}

// checkPage refuses a page on which something looks like a secret that did not in the
// session, or on which there is something that was to be redacted.
func (v *viewer) checkPage(f io.ReadSeeker) error {
	if v.secrets == nil || v.cmd.Yes {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	held, where := "", "the page"
	err := htmlpage.Read(f, func(t htmlpage.Text) {
		kind := v.secrets.LearnText(v.Ctx, t.Text, t.Quoted)
		if held == "" && kind != "" && t.Turn != "" {
			where = "turn " + t.Turn + " of the page"
		}
		held = cmp.Or(held, kind)
	})
	switch err = errors.Join(err, v.Ctx.Err()); {
	case err != nil || held == "":
		return err
	case v.cmd.Redaction() == nil:
		return v.secretError("")
	}
	return &formats.Error{
		Err:  fmt.Errorf("%s would hold a secret or word that --redact cannot replace, such as one with formatting inside (%s)", where, held),
		Hint: "choose other turns with --turns, or pass --yes to include it",
	}
}

// each yields sessions after a change.
func each(all iter.Seq2[*session.Session, error], change func(*session.Session) *session.Session) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		for s, err := range all {
			if s != nil && err == nil {
				s = change(s)
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// checkSecrets reads what is to be on a page. With --redact, it learns what subagents hold, for
// their parents may tell of it. Otherwise, it refuses what looks like a secret, unless
// --yes says that it may be sent.
func (v *viewer) checkSecrets(src source, turns prose.Turns) (err error) {
	o := v.cmd.Redaction()
	if o == nil && v.cmd.Yes {
		return nil
	}
	if o == nil {
		v.secrets, err = convert.NewRedactor(convert.Redaction{})
	} else {
		err = v.startRedactor(*o, src.path)
		v.secrets = v.redactor
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{src.session: true}
	v.children = seen
	for list := []source{src}; len(list) > 0; list = list[1:] {
		view := v.view(func(loss.Loss) {})
		view.OnNotice = func(string) {}
		err := v.secrets.Learn(v.Ctx, each(v.plainDecoder(list[0])(v.Ctx, view), func(s *session.Session) *session.Session {
			return prose.Tap(v.pick(s, turns), func(m *session.Message) {
				for _, p := range m.Parts {
					c, ok := p.(*session.ToolCall)
					if !ok || c.Child == "" || seen[c.Child] || len(seen) > htmlpage.MaxSubagents ||
						!slices.ContainsFunc(s.Children, func(l session.Link) bool { return l.Session == c.Child }) {
						continue
					}
					id := strings.Clone(c.Child)
					seen[id], list = true, append(list, source{path: src.path, session: id, folder: src.folder})
				}
			})
		}))
		if v.Ctx.Err() != nil {
			return v.Ctx.Err()
		}
		_ = err               // the page itself ends with the same
		turns = prose.Turns{} // of subagents, all
	}
	if v.secrets.Secrets() > 0 && o == nil {
		return v.secretError(src.path)
	}
	return nil
}

func (v *viewer) secretError(path string) error {
	n := v.secrets.Secrets()
	what := screen.Plural(int64(n), "value") + " that look like secrets"
	if n == 1 {
		what = "1 value that looks like a secret"
	}
	return &formats.Error{At: path, Err: fmt.Errorf("the page would hold %s", what),
		Hint: "pass --redact to replace them, or --yes to include them; `rehome check --secrets` reports where they are"}
}
