package main

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/schemas"
)

// model is the grammar as kong understands it: what completes in a shell, and
// stands in the manual, is made from it.
func model() *kong.Application {
	k, err := kong.New(&grammar{}, kong.Name("rehome"), kong.Description(about))
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	return k.Model
}

// commands are those that people type.
func commands(m *kong.Application) (out []*kong.Node) {
	for _, n := range m.Children {
		if !n.Hidden {
			out = append(out, n)
		}
	}
	return out
}

// The things that a word on the command line can be.
const (
	anyWord     = ""
	fileWord    = "file"
	dirWord     = "dir"
	sessionWord = "session" // or a file
)

// guess is what can stand in one place of a command line: one of some words, or
// a thing of a kind that the shell or rehome knows.
type guess struct {
	words []string
	kind  string
}

// guessFlag is what can be said for a flag.
func guessFlag(f *kong.Flag) guess {
	if f.Enum != "" {
		return guess{words: f.EnumSlice()}
	}
	switch f.PlaceHolder {
	case "FORMAT":
		return guess{words: formatNames()}
	case "DIR":
		return guess{kind: dirWord}
	case "KIND":
		var kinds []string
		for _, k := range loss.Kinds() {
			kinds = append(kinds, k.String())
		}
		return guess{words: kinds}
	case "LAYER":
		return guess{words: rule.LayerNames()}
	case "RULE":
		var ids []string
		for _, r := range rule.All() {
			ids = append(ids, r.ID)
		}
		return guess{words: ids}
	case "FILE":
		return guess{kind: fileWord}
	case "WHERE":
		return guess{words: []string{"beside", "none"}, kind: fileWord}
	}
	return guess{}
}

// guessWord is what can stand for an argument without a flag.
func guessWord(command string, v *kong.Value) guess {
	switch {
	case v.Enum != "":
		return guess{words: v.EnumSlice()}
	case command == "schema":
		return guess{words: schemas.Names()}
	case v.Name == "src":
		return guess{kind: sessionWord}
	}
	return guess{kind: fileWord}
}

func formatNames() (out []string) {
	for _, f := range all.Registry().All() {
		out = append(out, f.Name)
	}
	return out
}

// flagsOf are a command's own flags and those that all have.
func flagsOf(m *kong.Application, n *kong.Node) []*kong.Flag {
	return slices.DeleteFunc(slices.Concat(m.Flags, n.Flags), func(f *kong.Flag) bool { return f.Hidden })
}

// firstSentence is what is short enough to stand beside a flag in a list.
func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSuffix(s, ".")
}

// Run prints the script of a shell.
func (c *completionCmd) Run(h *house) error {
	script := map[string]func(*kong.Application) string{
		"bash": bashScript, "zsh": zshScript, "fish": fishScript, "powershell": powershellScript,
	}[c.Shell]
	_, err := io.WriteString(h.out.stdout, script(model()))
	return err
}

// Run prints the ids of the sessions that begin as typed, one a line. What
// comes out of it lands in a shell, so an id is plain or is not named.
func (c *completeCmd) Run(h *house) error {
	l, err := h.listing(false)
	if err != nil {
		return nil // there is nothing to complete with
	}
	for i := range l.Sessions {
		id := l.Short(l.Sessions[i].ID)
		if strings.HasPrefix(id, c.Prefix) && plainWord(id) {
			if _, err := io.WriteString(h.out.stdout, id+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

func plainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}
