package doctor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/scratch"
)

// examined is what was found in one store.
type examined struct {
	visitor
	sessions int
	versions map[string]int
	account  session.SharedAccount
	err      error
}

// store examines one store, or the one that text was made from. The error says what
// could not be read.
func (r *run) store(s sessions.Store, jobs int) error {
	loc, err := formats.Locate(s.Path)
	if err != nil {
		return err
	}
	view := formats.FullView(jobs)
	view.Live = r.o.Live
	if text := r.texts[s.Path]; text != nil {
		dir, err := scratch.New("", "restored")
		if err != nil {
			return err
		}
		defer dir.Remove()
		_, inside, err := sessions.Restore(r.ctx, r.reg, text, loc, dir.Path, view, sessions.MaxRestored)
		if err != nil {
			return err
		}
		if err := r.examine(s.Format, inside, view); err != nil {
			return formats.ReplacePath(err, inside.Path, s.Path)
		}
		return nil
	}
	return r.examine(s.Format, loc, view)
}

func (r *run) examine(f *formats.Format, loc *formats.Location, view formats.View) error {
	c := r.clients[f]
	x := &examined{visitor: visitor{known: c.known, out: tally{}}, versions: map[string]int{}}
	x.decode(r, f, loc, view)
	if err := x.rules(r, f, loc, view); err != nil && x.err == nil {
		x.err = err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Sessions += x.sessions
	c.RawBytes += x.rawBytes
	c.Account.Add(x.account.Total())
	c.drift.merge(x.out)
	for name, n := range x.versions {
		c.versions[name] += n
	}
	return x.err
}

// decode visits all sessions of a store.
func (x *examined) decode(r *run, f *formats.Format, loc *formats.Location, view formats.View) {
	for s, err := range f.Sessions.Decode(r.ctx, loc, view, session.Selection{History: true, Account: &x.account}) {
		x.fail(err)
		if s == nil {
			continue
		}
		x.sessions++
		x.version(s)
		x.visit("session", s)
		for m, err := range s.Messages {
			if x.fail(err) {
				break
			}
			x.visit(string(m.Role), m)
		}
		if s.Files == nil {
			continue
		}
		for file, err := range s.Files {
			if x.fail(err) {
				break
			}
			x.visit("file", file)
		}
	}
}

// fail remembers the first error, and reports whether there is one.
func (x *examined) fail(err error) bool {
	if x.err == nil {
		x.err = err
	}
	return err != nil
}

// version counts the version of the client that wrote a session.
func (x *examined) version(s *session.Session) {
	for _, e := range s.Extras {
		var name string
		if x.known != nil && e.Name == x.known.version && json.Unmarshal(e.Raw, &name) == nil {
			x.versions[versionName(name)]++
		}
	}
}

// versionName returns a version without what may be content.
func versionName(s string) string {
	const plain = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-+"
	if len(s) > 40 || s == "" || strings.Trim(s, plain) != "" {
		return "unknown"
	}
	return s
}

// rules applies the rules about what is unknown, of formats that keep tables or
// protobuf: what is in no session is not decoded, and fields without a name are counted
// by message. The model has everything else.
func (x *examined) rules(r *run, f *formats.Format, loc *formats.Location, view formats.View) error {
	if x.known == nil || !f.Records.Has(formats.Tables) && !f.Records.Has(formats.SDKDocuments) {
		return nil
	}
	kinds := map[string]Kind{"RH201": Table, "RH204": Record, "RH206": Table, "RH208": Table}
	var mu sync.Mutex
	err := f.Check(r.ctx, loc, view, &rule.Pass{
		Layers: rule.Schema | rule.References,
		Schema: func(string) rule.Validator { return func([]byte) []rule.Cause { return nil } },
		Report: func(f rule.Finding) {
			if kind := kinds[f.Rule]; kind != "" && f.Message != "member %q" { // an Extra
				mu.Lock()
				defer mu.Unlock()
				x.out.add(found(kind, &f))
			}
		},
	})
	if errors.Is(err, formats.ErrBusy) {
		return err
	}
	return nil // the decoder reports what is wrong with the store
}

// unknownField is the message about a field of protobuf that its message does not have.
const unknownField = "unknown field %d of %s"

// found returns what a rule found, without what may be content.
func found(kind Kind, f *rule.Finding) Drift {
	if f.Message == unknownField && len(f.Args) > 1 {
		return Drift{Kind: Field, Name: fmt.Sprint("#", f.Args[0]), Where: fmt.Sprint(f.Args[1]), Count: 1}
	}
	d := Drift{Kind: kind, Where: cmp.Or(hide(f.At.Set), "database"), Count: 1}
	args := make([]any, len(f.Args))
	for i, a := range f.Args {
		args[i] = a
		switch a := a.(type) {
		case string:
			args[i] = hide(a)
		case rule.Amount:
			d.Count = a.N
		}
	}
	switch {
	case f.At.Key.Class == store.Text && !f.At.HasID: // all rows whose keys begin so
		d.Name = hide(string(f.At.Key.Bytes()))
	case len(args) > 0:
		d.Name = fmt.Sprintf(strings.ReplaceAll(f.Message, "%q", "%s"), args...)
	default:
		d.Name = f.Message
	}
	return d
}
