package cli

import (
	"context"
	"iter"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// redacted returns a decoder without what the flags redact. All sources of the command share
// their placeholders. It decodes twice, the second time with its losses reported.
func (v *viewer) redacted(path string, decode decodeFunc) decodeFunc {
	o := v.cmd.Redaction()
	if o == nil {
		return decode
	}
	return func(ctx context.Context, view formats.View) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			if err := v.startRedactor(*o, path); err != nil {
				yield(nil, err)
				return
			}
			quiet := view
			quiet.OnLoss, quiet.OnNotice = func(loss.Loss) {}, func(string) {}
			v.redactor.Sessions(ctx, decode(ctx, quiet), decode(ctx, view))(yield)
		}
	}
}

// startRedactor makes the redactor when it is needed first.
func (v *viewer) startRedactor(o convert.Redaction, path string) (err error) {
	if v.redactor == nil {
		v.redactor, err = convert.NewRedactor(o, path)
	}
	return err
}
