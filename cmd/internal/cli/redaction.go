package cli

import (
	"context"
	"iter"

	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// RedactOptions are flags of the commands that redact.
type RedactOptions struct {
	RedactFile  string `group:"What to include:" rare:"" placeholder:"FILE" help:"Also redact the words and /patterns/ in FILE, one on each line"`
	RedactPaths bool   `group:"What to include:" rare:"" help:"Also redact user names: those of home folders in paths"`
	Key         string `group:"What to include:" rare:"" placeholder:"FILE" help:"Derive the numbers of placeholders from the secret key in FILE, so that they are the same in every store"`
}

// RedactFlags are flags of the commands that redact if asked to.
type RedactFlags struct {
	Redact bool `group:"What to include:" help:"Redact secrets, and the words in .rehomeredact"`
	RedactOptions
}

// redaction returns what to redact; nil is nothing. Each flag implies --redact.
func (f *RedactFlags) redaction() *convert.Redaction {
	if !f.Redact && f.RedactOptions == (RedactOptions{}) {
		return nil
	}
	return f.RedactOptions.redaction()
}

func (f *RedactOptions) redaction() *convert.Redaction {
	return &convert.Redaction{File: f.RedactFile, Key: f.Key, Paths: f.RedactPaths, Dirs: workingDirs()}
}

// redacted returns a decoder without what the flags redact. All sources of the command share
// their placeholders. It decodes twice, the second time with its losses reported.
func (v *viewer) redacted(path string, decode decodeFunc) decodeFunc {
	o := v.cmd.redaction()
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

// printRedacted prints how many places were redacted, by rule. nil means that nothing was to be.
func printRedacted(p *screen.Page, counts []convert.RedactedCount) {
	if counts == nil {
		return
	}
	var parts []screen.Safe
	total := int64(0)
	for _, c := range counts {
		total += c.Places
		parts = append(parts, screen.Grouped(c.Places)+" "+screen.Visible(c.Rule))
	}
	line := screen.Plural(total, "place") + " redacted: " + screen.Join(parts, ", ")
	if total == 0 {
		line = "nothing to redact was found"
	}
	p.Wrapped("  ", line, func(s screen.Safe) screen.Safe { return s })
}
