package convert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"rehome/convert/internal/redact"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// errMeaning is the error of a result whose sessions are not read as they were.
var errMeaning = errors.New("its sessions would not be read as they are: a word, pattern or user name to redact is also a name in the format")

// sameOutline returns an error unless the sessions of a staged store have the parts that
// those of the source have. Lines in which nothing but secrets was replaced are not read
// again: no token is a name in a format.
func (c *exactConversion) sameOutline(ctx context.Context, from, to *formats.Format, l *formats.Location) error {
	found := c.records.Counts()
	word := slices.ContainsFunc(found, func(n redact.Count) bool { return !n.Secret() })
	if !word && (len(found) == 0 || c.kind == formats.PlainFiles) {
		return nil
	}
	if len(c.opts.Sessions) > 0 || c.opts.Workspace != "" || c.opts.Since != 0 {
		return nil
	}
	was, err := c.outline(ctx, from, c.source.Loc)
	if err != nil || was == nil {
		return err
	}
	is, err := c.outline(ctx, to, l)
	if err == nil && !maps.Equal(was, is) {
		err = &formats.Error{At: c.source.Loc.Path, Err: errMeaning, Hint: "omit this word, or make it longer"}
	}
	return err
}

// outline counts the parts of sessions by kind; nil if the format has no sessions.
func (c *exactConversion) outline(ctx context.Context, f *formats.Format, l *formats.Location) (map[string]int, error) {
	if f = sessions.Readable(c.reg, f); f.Sessions == nil {
		return nil, nil
	}
	out := map[string]int{}
	v := formats.View{Secrets: formats.WithholdSecrets, OnOmit: func(store.SidecarItem) {}, OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}, Live: c.opts.Live, Jobs: c.jobs}
	for s, err := range f.Sessions.Decode(ctx, l, v, session.Selection{}) {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			out["unreadable"]++
			continue
		case s.Parent != nil && !l.IsDir():
			continue // it is in another file, which may not be part of the copy
		}
		out["session"]++
		err = session.Each(ctx, s.Messages, func(m *session.Message) error {
			for _, p := range m.Parts {
				kind := fmt.Sprintf("%s %T", m.Role, p)
				if _, ok := p.(*session.Thinking); ok { // without a signature, it becomes text
					kind = fmt.Sprintf("%s %T", m.Role, &session.Text{})
				}
				out[kind]++
			}
			return nil
		})
		if err != nil {
			out["unreadable"]++
		}
	}
	return out, nil
}

// learnPaths finds what is to be redacted in the paths of stores, so that it has the same
// placeholder in all of them, and no two paths become one.
func (j *job) learnPaths(ctx context.Context) {
	if j.redactor == nil {
		return
	}
	for _, f := range j.found {
		j.redactor.engine.Learn(ctx, []byte(f.Rel), redact.Unknown)
	}
}
