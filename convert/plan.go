package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/walk"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
	"rehome/internal/shell"
)

// checkFrom returns an error if the source cannot have the format that it is said to
// have.
func (in *input) checkFrom() error {
	f, err := in.reg.Find(in.opts.From)
	switch {
	case in.opts.From != "" && err != nil:
		return Misuse{err}
	case f != nil && f.Records == nil && f.Sessions == nil:
		return Misuse{&formats.Error{At: f.Name, Err: errors.New("this format cannot be read"), Hint: "run `rehome formats` to see which formats can"}}
	}
	return nil
}

// checkOptions returns an error for options that are wrong whatever is on disk.
func (j *job) checkOptions() error {
	if err := errors.Join(j.checkFrom(), j.checkUpdate()); err != nil {
		return err
	}
	f, err := j.reg.Find(j.opts.To)
	if j.opts.To != "" && err != nil {
		return Misuse{err}
	}
	if err := j.checkFlat(f); err != nil {
		return err
	}
	if f != nil && f.Records == nil && f.Writer != nil {
		return j.checkSessionOptions(f)
	}
	if f != nil && f.Records == nil && f.ReadOnly != "" {
		return Misuse{&formats.Error{At: f.Name, Err: errors.New("sessions are not written for this client: " + f.ReadOnly), Hint: "write them for another client, such as with --to claude-code"}}
	}
	if f != nil && f.Records == nil {
		return Misuse{&formats.Error{At: f.Name, Err: errors.New("this format cannot be written"), Hint: "run `rehome formats` to see which formats can"}}
	}
	switch j.opts.Compress {
	case "", "gzip", "zstd":
	default:
		return &formats.Error{At: j.opts.Compress, Err: errors.New("unknown compression; use gzip or zstd")}
	}
	return j.checkCompress(f)
}

// checkFlat returns an error for Options.Flat with a target that has one form only.
func (j *job) checkFlat(to *formats.Format) error {
	if j.opts.Flat && to != nil && (to.Records == nil || to.Records.Parts == nil) {
		return Misuse{&formats.Error{Err: errors.New("--flat has no effect on a conversion to " + to.Name), Hint: "omit it, or pass --to cursor-ndjson"}}
	}
	return nil
}

func (j *job) checkCompress(to *formats.Format) error {
	if j.opts.Compress != "" && to != nil && !to.Text {
		return &formats.Error{At: to.Name, Err: errors.New("only text can be compressed"), Hint: "omit --compress"}
	}
	return nil
}

// chooseTarget returns the format that a store is converted to: the one the
// user asked for, else the one that the text was made from.
func (j *job) chooseTarget(ctx context.Context, from *formats.Format, l *formats.Location) (*formats.Format, error) {
	to := j.reg.Lookup(j.opts.To)
	if to == nil && j.opts.Same || to != nil && to.Name == from.Name {
		to = from // which can be of plain files
	}
	if to == nil && from.Text && from.Records != nil {
		origin, err := sessions.Origin(ctx, from, l)
		if err != nil {
			return nil, err
		}
		if origin != from.Name {
			to = j.reg.Lookup(origin)
		}
		if to == nil || to.Records == nil {
			return nil, j.noTargetError(ctx, from, l, fmt.Errorf("made from %q, a format that cannot be written", origin))
		}
	}
	if to == nil {
		return nil, j.noTargetError(ctx, from, l, errors.New("target format unknown"))
	}
	if j.dst == "" && from.Sessions != nil && to.Writer != nil && !formats.Related(from, to) {
		return nil, Misuse{&formats.Error{At: to.Name, Err: errors.New("only an exact conversion finds the place of the store itself"), Hint: "pass a DST, or run `rehome migrate --cwd` if the sessions should continue there"}}
	}
	if !formats.Related(from, to) {
		return nil, j.noTargetError(ctx, from, l, fmt.Errorf("cannot convert %s to %s", from.Name, to.Name))
	}
	if j.opts.Update && !to.Text {
		return nil, Misuse{&formats.Error{At: to.Name, Err: errors.New("--update works on text only: the client may have changed the store since"), Hint: "omit --update, and pass --replace if the store exists"}}
	}
	return to, cmp.Or(j.checkFlat(to), j.checkCompress(to))
}

// sharedKind returns the kind of records that is converted. Only documents can be
// assigned to another folder, not tables.
func (j *job) sharedKind(from, to *formats.Format) (string, error) {
	if j.opts.Cwd == "" {
		return formats.SharedKind(from, to), nil
	}
	for _, k := range from.Records.Kinds {
		if k.Name != formats.Tables && slices.ContainsFunc(to.Records.Kinds, k.Fits) {
			return k.Name, nil
		}
	}
	return "", &formats.Error{At: from.Name, Err: fmt.Errorf("--cwd has no effect with --to %s", to.Name), Hint: "omit --cwd"}
}

// noTargetError returns the error of a conversion without a possible target.
// Its hint lists the possible ones.
func (j *job) noTargetError(ctx context.Context, from *formats.Format, l *formats.Location, err error) error {
	list := j.sessionFormats(ctx, from, l)
	if len(j.opts.Sessions) == 0 && !j.filtered() || j.allSplit() { // related formats take whole stores
		list = append(j.relatedFormats(ctx, from, l), list...)
	}
	hint := "pass --to with one of " + formatNames(list)
	if len(list) == 1 {
		hint = "pass --to " + list[0].Name
	}
	switch to := j.reg.Lookup(j.opts.To); {
	case to != nil && slices.Contains(list, to): // others of the source convert exactly
		hint = "pass --by-session to convert all of them session by session, or convert this one by itself"
	case len(list) == 0 && j.opts.Cwd != "":
		hint = "omit --cwd: no format that " + from.Name + " converts to supports it"
	case j.opts.To == "" && filepath.Ext(j.dst) == ".html":
		hint = "run `" + shell.Command("rehome", "show", l.Path, "--out", j.dst) + "` for a page, or " + hint
	case j.opts.To == "" && filepath.Ext(j.dst) == ".md":
		hint = "run `" + shell.Command("rehome", "show", l.Path, "--format", "markdown") + "` for Markdown, or " + hint
	}
	return &formats.Error{Format: from.Name, At: l.Path, Err: err, Hint: hint}
}

// sessionFormats returns the formats that the sessions of a store can be
// written in.
func (j *job) sessionFormats(ctx context.Context, from *formats.Format, l *formats.Location) (out []*formats.Format) {
	if from.Sessions == nil && from.Text && from.Records != nil {
		if origin, err := sessions.Origin(ctx, from, l); err == nil && j.reg.Lookup(origin) != nil {
			from = j.reg.Lookup(origin)
		}
	}
	for _, to := range j.reg.All() {
		if from.Sessions != nil && to.Writer != nil && !formats.Related(from, to) && j.opts.Cwd == "" {
			out = append(out, to)
		}
	}
	return out
}

// maxTrySize is the max size of a store that is opened for a hint.
const maxTrySize = 64 << 20

// relatedFormats returns the related formats that this store can be converted
// to: it tries to create each in a temporary folder. A store that cannot be
// opened might convert to any.
func (j *job) relatedFormats(ctx context.Context, from *formats.Format, l *formats.Location) (out []*formats.Format) {
	all := j.reg.Relatives(from)
	if walk.Size(l) > maxTrySize {
		return all
	}
	private, err := stage.NewTemp("try")
	if err != nil {
		return all
	}
	defer private.Remove()
	schemas := map[string]*store.Schema{}
	for _, to := range all {
		kind, err := j.sharedKind(from, to)
		if err != nil {
			continue
		}
		if schemas[kind] == nil {
			v := formats.FullView(1)
			v.Kind, v.Live = kind, j.opts.Live
			r, err := from.Records.Open(ctx, l, v)
			if err != nil {
				return all
			}
			schemas[kind] = r.Schema()
			r.Close()
		}
		b := formats.Build{Path: filepath.Join(private.Path, to.Name), Schema: schemas[kind], Jobs: 1, OnSidecar: func(store.SidecarItem) {}, OnLoss: func(loss.Loss) {}}
		if w, err := to.Records.Create(ctx, b); err == nil {
			w.Close()
			out = append(out, to)
		}
	}
	return out
}

// secrets returns how to read the secrets of the source. Text is meant for git,
// so they are withheld from it; a store for a client must not contain a marker
// instead of a secret.
func (j *job) secrets(from, to *formats.Format) formats.SecretMode {
	switch {
	case to.Text && !j.opts.WithSecrets, !from.Text && j.opts.Redact != nil:
		return formats.WithholdSecrets
	case !to.Text && from.Text:
		return formats.OmitWithheld
	}
	return formats.KeepSecrets
}
