package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// checkOptions refuses what can be seen to be wrong without a look at the
// disk.
func (j *job) checkOptions() error {
	for _, name := range []string{j.o.From, j.o.To} {
		if name != "" && j.reg.Lookup(name) == nil {
			return unknownFormat(j.reg, name)
		}
	}
	if f := j.reg.Lookup(j.o.From); f != nil && f.Open == nil && f.Decode == nil {
		return &formats.Error{At: f.Name, Err: errors.New("this format cannot be read")}
	}
	f := j.reg.Lookup(j.o.To)
	if f != nil && f.Create == nil && f.Encode != nil {
		return j.fitsSessions(f)
	}
	if f != nil && f.Create == nil {
		return &formats.Error{At: f.Name, Err: errors.New("this format cannot be written")}
	}
	switch j.o.Compress {
	case "", "gzip", "zstd":
	default:
		return &formats.Error{At: j.o.Compress, Err: errors.New("unknown compression; use gzip or zstd")}
	}
	return j.checkCompress(f)
}

func (j *job) checkCompress(to *formats.Format) error {
	if j.o.Compress != "" && to != nil && !to.Text {
		return &formats.Error{At: to.Name, Err: errors.New("only text can be compressed"), Hint: "omit --compress"}
	}
	return nil
}

// chooseTarget says what a store becomes: what the user asked for, else what
// the text says it once was.
func (j *job) chooseTarget(ctx context.Context, from *formats.Format, l *formats.Location) (*formats.Format, error) {
	to := j.reg.Lookup(j.o.To)
	if to == nil && from.Text && from.Open != nil {
		origin, err := j.originOf(ctx, from, l)
		if err != nil {
			return nil, err
		}
		if origin != from.Name {
			to = j.reg.Lookup(origin)
		}
		if to == nil || to.Create == nil {
			return nil, j.openEnded(ctx, from, l, fmt.Errorf("made from %q, a format that cannot be written", origin))
		}
	}
	if to == nil {
		return nil, j.openEnded(ctx, from, l, errors.New("target format unknown"))
	}
	if !formats.Related(from, to) {
		return nil, j.openEnded(ctx, from, l, fmt.Errorf("cannot convert %s to %s", from.Name, to.Name))
	}
	return to, j.checkCompress(to)
}

// shared is the family in which a store travels. Another workspace can only
// be given to sessions, not to tables.
func (j *job) shared(from, to *formats.Format) (string, error) {
	if j.o.Cwd == "" {
		return formats.SharedFamily(from, to), nil
	}
	for _, f := range from.Families {
		if f != formats.Tables && slices.Contains(to.Families, f) {
			return f, nil
		}
	}
	return "", &formats.Error{At: from.Name, Err: fmt.Errorf("--cwd has no effect with --to %s", to.Name), Hint: "omit --cwd"}
}

// openEnded is the error of a conversion that does not know where to go. It
// lists where it could.
func (j *job) openEnded(ctx context.Context, from *formats.Format, l *formats.Location, err error) error {
	list := j.spoken(ctx, from, l)
	if len(j.o.Sessions) == 0 && !j.picky() || j.parts() { // relatives take a store whole
		list = append(j.fitting(ctx, from, l), list...)
	}
	hint := "pass --to with one of " + names(list)
	switch {
	case len(list) == 1:
		hint = "pass --to " + list[0].Name
	case len(list) == 0 && j.o.Cwd != "":
		hint = "omit --cwd: no format that " + from.Name + " converts to supports it"
	}
	return &formats.Error{Format: from.Name, At: l.Path, Err: err, Hint: hint}
}

// spoken are the formats that the sessions in a store could be written in.
func (j *job) spoken(ctx context.Context, from *formats.Format, l *formats.Location) (out []*formats.Format) {
	if from.Decode == nil && from.Text && from.Open != nil {
		if origin, err := j.originOf(ctx, from, l); err == nil && j.reg.Lookup(origin) != nil {
			from = j.reg.Lookup(origin)
		}
	}
	for _, to := range j.reg.All() {
		if from.Decode != nil && to.Encode != nil && !formats.Related(from, to) && j.o.Cwd == "" {
			out = append(out, to)
		}
	}
	return out
}

// triedUpTo is how large a store may be that is opened for the sake of a hint.
const triedUpTo = 64 << 20

// fitting are the relatives that this very store could become: each is asked to
// begin one in a folder that goes away again. A store that cannot be opened can
// become any, for all that is known.
func (j *job) fitting(ctx context.Context, from *formats.Format, l *formats.Location) (out []*formats.Format) {
	all := j.reg.Relatives(from)
	if sizeOf(l) > triedUpTo {
		return all
	}
	private, err := newFolder("try")
	if err != nil {
		return all
	}
	defer private.Remove()
	schemas := map[string]*store.Schema{}
	for _, to := range all {
		family, err := j.shared(from, to)
		if err != nil {
			continue
		}
		if schemas[family] == nil {
			v := wholeView(1)
			v.Family, v.Live = family, j.o.Live
			r, err := from.Open(ctx, l, v)
			if err != nil {
				return all
			}
			schemas[family] = r.Schema()
			r.Close()
		}
		b := formats.Build{Path: filepath.Join(private.Path, to.Name), Schema: schemas[family], Jobs: 1, OnSidecar: func(store.SidecarItem) {}, OnLoss: func(loss.Loss) {}}
		if w, err := to.Create(ctx, b); err == nil {
			w.Close()
			out = append(out, to)
		}
	}
	return out
}

// originOf opens a text store for its schema alone.
func (j *job) originOf(ctx context.Context, from *formats.Format, l *formats.Location) (string, error) {
	r, err := from.Open(ctx, l, wholeView(1))
	if err != nil {
		return "", err
	}
	origin := r.Schema().Origin
	return origin, r.Close()
}

// wholeView reads every byte, sidecars aside, and has nobody to talk to.
func wholeView(jobs int) formats.View {
	return formats.View{
		Secrets:  formats.KeepSecrets,
		OnOmit:   func(store.SidecarItem) {},
		OnLoss:   func(loss.Loss) {},
		OnNotice: func(string) {},
		Jobs:     jobs,
	}
}

// secrets says how the source is to be read. Text is bound for git and leaves
// secrets at home; what a client will open must not hold a marker where a
// secret stood.
func (j *job) secrets(from, to *formats.Format) formats.SecretMode {
	switch {
	case to.Text && !j.o.WithSecrets:
		return formats.WithholdSecrets
	case !to.Text && from.Text:
		return formats.OmitWithheld
	}
	return formats.KeepSecrets
}
