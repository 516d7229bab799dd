package cli

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"os"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// viewer is one invocation of show.
type viewer struct {
	*console.App
	cmd       *showCmd
	format    string
	turns     prose.Turns
	source    string            // path of the store, for commands; "" for stdin
	current   source            // whose sessions are printed
	secrets   *convert.Redactor // knows what pages must not hold; nil if they may
	children  map[string]bool   // the subagents that were searched for secrets; nil is any
	streaming bool              // sessions are printed as they arrive
	preview   bool              // in a list: flags of show have no meaning there
	digests   bool              // what is left out is named by its digest
	lost      loss.Log
	redactor  *convert.Redactor // nil before it is needed
}

// decodeFunc decodes sessions. It can be called again for a second pass, except
// on a stream.
type decodeFunc func(ctx context.Context, v formats.View) iter.Seq2[*session.Session, error]

func (v *viewer) selection(id string) session.Selection {
	sel := session.Selection{History: v.cmd.History || v.format == "html"}
	if id != "" {
		sel.IDs = []string{id}
	}
	return sel
}

// storeDecoder returns a function that decodes a session, or all sessions, of a store.
func (v *viewer) storeDecoder(c source) decodeFunc { return v.redacted(c.path, v.plainDecoder(c)) }

// plainDecoder is storeDecoder without redaction.
func (v *viewer) plainDecoder(c source) decodeFunc {
	return func(ctx context.Context, view formats.View) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			f, l, err := v.findDecoder(c.path)
			if err != nil {
				yield(nil, err)
				return
			}
			sessions.NewFolders(v.Reg, candidates(v.App, c.folder)).Decode(ctx, f, l, view, v.selection(c.session))(yield)
		}
	}
}

// findDecoder returns the format that decodes the sessions of a store.
func (v *viewer) findDecoder(path string) (*formats.Format, *formats.Location, error) {
	l, err := formats.Locate(path)
	if err != nil {
		return nil, nil, err
	}
	found, err := v.Reg.Detect(v.Ctx, l)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range found {
		if f := sessions.Readable(v.Reg, d.Format); f.Sessions != nil {
			return f, l, nil
		}
	}
	if len(found) > 0 {
		return nil, nil, notReadable(v.App, found[0].Format.Name, path, sessions.ErrUnsupported)
	}
	return nil, nil, &formats.Error{At: path, Err: formats.ErrUnknown, Hint: "run `rehome formats` to list the supported formats"}
}

// notReadable returns the error for a store whose sessions cannot be read.
func notReadable(a *console.App, format, path string, err error) error {
	return &formats.Error{Format: format, At: path, Err: err, Hint: "`rehome convert` can convert the whole store"}
}

// targets returns the sessions to print.
func (c *showCmd) targets(a *console.App) ([]source, error) {
	if c.Last || len(c.Src) == 0 {
		if c.Last {
			src, err := newest(a, c.Live)
			return []source{src}, err
		}
		return c.selected(a, "")
	}
	var out []source
	for _, name := range c.Src {
		src, err := resolve(a, name, c.Live)
		if err != nil {
			return nil, err
		}
		if src.session != "" {
			out = append(out, src)
			continue
		}
		if c.Out != "" || c.filtered() {
			list, err := c.selected(a, src.path)
			if err != nil {
				return nil, err
			}
			out = append(out, list...)
			continue
		}
		one, err := onlySession(a, src.path, c.Live)
		if err != nil {
			return nil, err
		}
		one.folder = cmp.Or(src.folder, one.folder)
		out = append(out, one)
	}
	return out, nil
}

// selected returns the sessions below a path, or on this machine, that the flags
// select.
func (c *showCmd) selected(a *console.App, path string) ([]source, error) {
	within := lsCmd{Project: c.Project, Client: c.Client, Since: c.Since, ReadFlags: console.ReadFlags{Live: c.Live}}
	if path != "" {
		within.Paths = []string{path}
	}
	listing, err := within.list(a)
	if err != nil {
		return nil, err
	}
	filter, err := within.filter(a, listing)
	if err != nil {
		return nil, err
	}
	for _, u := range listing.Unread {
		a.Out.Remark(u.Path + ": not read: " + newLsUnread(u).Reason)
	}
	wanted, _ := listing.Select(filter)
	if len(wanted) == 0 {
		return nil, &formats.Error{At: path, Err: errors.New("no sessions found"), Hint: "run `rehome ls` to list sessions"}
	}
	var out []source
	count := map[source]int{}
	for _, s := range wanted {
		count[source{path: s.Sources[0].Path, session: s.ID}]++
	}
	for i := range wanted {
		s := &wanted[i]
		src := source{path: s.Sources[0].Path, session: s.ID}
		if count[src] > 1 { // its store holds several with this id
			src.path = fileOf(a.Reg, s)
		}
		src.folder = s.Workspace
		out = append(out, src)
	}
	return out, nil
}

// onlySession returns the only session of a store.
func onlySession(a *console.App, path string, live bool) (source, error) {
	l, err := sessions.List(a.Ctx, a.Reg, sessions.Options{Paths: []string{path}, Live: live, OnNotice: a.Out.Remark, Verbose: a.Out.Verbose,
		Folders: candidates(a)})
	if err != nil {
		return source{}, err
	}
	switch n := len(l.Sessions); {
	case n > 1:
		var list []*sessions.Listed
		for i := range l.Sessions {
			list = append(list, &l.Sessions[i])
		}
		return source{}, newAmbiguous(a, l, path, "holds "+string(screen.Plural(int64(n), "session"))+": name one as "+path+"#ID", list)
	case n == 1:
		s := &l.Sessions[0]
		return source{path: s.Sources[0].Path, session: s.ID, folder: s.Workspace}, nil
	case len(l.Unread) > 0:
		u := l.Unread[0]
		if _, ok := errors.AsType[*formats.Error](u.Err); ok {
			return source{}, u.Err
		}
		return source{}, notReadable(a, u.Format, u.Path, u.Err)
	}
	return source{}, &formats.Error{At: path, Err: errors.New("no sessions found")}
}

// showStdin prints the sessions that arrive on stdin. It prints them as they
// arrive if the format can be read that way and the range of turns does not
// count from the end.
func (v *viewer) showStdin() error {
	if v.format != "html" && !v.turns.FromEnd() && !console.IsTerminal(os.Stdin) && v.cmd.Redaction() == nil {
		f, r, s, err := v.OpenStream(os.Stdin)
		if err != nil {
			return err
		}
		defer s.Remove()
		if f != nil {
			v.streaming = true
			return v.show(func(ctx context.Context, view formats.View) iter.Seq2[*session.Session, error] {
				return f.Sessions.Stream(ctx, r, view, v.selection(""))
			})
		}
		return s.Restate(v.show(v.storeDecoder(source{path: s.Path})))
	}
	s, err := v.ReadStdin(console.StdinName)
	if err != nil {
		return err
	}
	defer s.Remove()
	if v.format == "html" {
		return s.Restate(v.pages([]source{{path: s.Path}}))
	}
	return s.Restate(v.show(v.storeDecoder(source{path: s.Path})))
}
