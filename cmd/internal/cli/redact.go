package cli

import (
	"context"
	"errors"

	"rehome/cmd/internal/console"
	"rehome/convert"
	"rehome/formats"
)

type redactCmd struct {
	Src string `arg:"" help:"Store, folder of stores, file of text, or session on this machine. Never modified."`
	Dst string `arg:"" help:"Target to create, or to --replace"`

	From string `group:"Formats:" placeholder:"FORMAT" help:"Format of SRC (detected by default)"`
	To   string `group:"Formats:" placeholder:"FORMAT" help:"Format to write (default: that of SRC)"`

	console.RedactOptions

	DryRun  bool `group:"Output:" help:"Redact and verify, but do not write DST"`
	Replace bool `group:"Output:" help:"Replace DST, keeping the old one as DST.bak-1 (-2, ...)"`

	console.ReadFlags
}

func (redactCmd) Help() string {
	return `Copies stores without what should not be shared. Keys, tokens and passwords are found by rules; words and patterns of your
own are listed in files named .rehomeredact (see --redact-file). Each value is replaced by a placeholder wherever it is:
in prompts, answers, arguments, results, titles, file contents, and also inside of base64, hexadecimal and protobuf. The
same value has the same placeholder everywhere in a store, and with --key in all stores.

Blobs that are named by a hash get new names, and references to them are updated, so that the client can continue the
sessions. Reasoning whose text changes loses its signature. What cannot be redacted is refused, such as compressed data
that holds a value, and then DST is not written.

The result lists how many values of which kind were replaced and in which records, never the values.

Examples:

    # a chat to attach to an issue
    rehome redact store.db chat.db

    # all chats, also without user names
    rehome redact ~/.cursor/chats shared --redact-paths

    # what would be redacted
    rehome redact session.jsonl out.jsonl --dry-run`
}

// Run redacts SRC into DST.
func (c *redactCmd) Run(a *console.App) error {
	src, err := resolveSource(a, c.Src, false, c.Live)
	if err != nil {
		return err
	}
	if src.session != "" {
		return console.Usage(&formats.Error{At: c.Src, Err: errors.New("redact copies whole stores, not single sessions"),
			Hint: "name the store, or run `rehome convert` with --redact --to canonical"})
	}
	o := convert.Options{
		From: c.From, To: c.To, DryRun: c.DryRun, Replace: c.Replace, Live: c.Live, Jobs: c.Jobs, State: stateDir(a),
		Redact: c.Redaction(), Same: true,
		OnNotice: a.Out.Remark, Verbose: a.Out.Verbose, OnProgress: a.Out.Progress(),
	}
	report, err := convert.Convert(a.Ctx, a.Reg, src.path, c.Dst, o)
	a.Out.EndProgress()
	if errors.Is(err, context.Canceled) {
		return console.Summarize("interrupted: nothing was written", err)
	}
	if err != nil && sameError(report) {
		return err
	}
	if werr := a.Out.Print(a.Ctx, newRedactResult(report, c.Key != "", a.Out.Verbose)); werr != nil {
		return errors.Join(err, werr)
	}
	if err = reportError(report, err); err != nil {
		return console.Printed(err)
	}
	return nil
}
