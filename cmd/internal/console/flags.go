package console

import (
	"fmt"

	"rehome/convert"
)

// OutputFlags are the flags of the program that every command has.
type OutputFlags struct {
	JSON    bool   `name:"json" help:"Print JSON instead of text, including for errors"`
	Color   string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Use color: auto (default), always or never"`
	Quiet   bool   `short:"q" xor:"talk" help:"Print only errors and requested output"`
	Verbose bool   `short:"v" xor:"talk" help:"Print more detail"`
}

// ReadFlags are flags of the commands that read many stores. kong finds Validate
// only in embedded types that are exported.
type ReadFlags struct {
	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

// Validate rejects invalid values of flags.
func (f *ReadFlags) Validate() error {
	if f.Jobs < 0 {
		return fmt.Errorf("--jobs: must not be negative: %d", f.Jobs)
	}
	return nil
}

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

// Redaction returns what to redact; nil is nothing. Each flag implies --redact.
func (f *RedactFlags) Redaction() *convert.Redaction {
	if !f.Redact && f.RedactOptions == (RedactOptions{}) {
		return nil
	}
	return f.RedactOptions.Redaction()
}

func (f *RedactOptions) Redaction() *convert.Redaction {
	return &convert.Redaction{File: f.RedactFile, Key: f.Key, Paths: f.RedactPaths, Dirs: WorkingDirs()}
}
