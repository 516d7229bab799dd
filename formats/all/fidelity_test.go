package all_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/golden"
)

// TestFidelity writes docs/fidelity.md: which format converts to which, and what each
// writer and reader declares to lose. The conformance suite holds them to it.
func TestFidelity(t *testing.T) {
	var from, to, writers []*formats.Format
	for _, f := range all.Registry().All() {
		if f.Sessions != nil || f.Records != nil {
			from = append(from, f)
		}
		if f.Writer != nil || f.Records != nil {
			to = append(to, f)
		}
		if f.Writer != nil {
			writers = append(writers, f)
		}
	}
	var out bytes.Buffer
	out.WriteString(fidelityIntro)
	fmt.Fprintf(&out, "| from \\ to | %s |\n|---%s|\n", strings.Join(names(to), " | "), strings.Repeat("|---", len(to)))
	for _, f := range from {
		var cells []string
		for _, g := range to {
			cells = append(cells, conversion(f, g))
		}
		fmt.Fprintf(&out, "| **%s** | %s |\n", f.Name, strings.Join(cells, " | "))
	}
	out.WriteString(fidelityLosses)
	for len(writers) > 0 {
		same := slices.DeleteFunc(slices.Clone(writers), func(f *formats.Format) bool { return !slices.Equal(f.Writer.Losses, writers[0].Writer.Losses) })
		writers = slices.DeleteFunc(writers, func(f *formats.Format) bool { return slices.Contains(same, f) })
		fmt.Fprintf(&out, "\n### To %s\n\n", strings.Join(names(same), ", "))
		codes := slices.Compact(slices.Sorted(slices.Values(same[0].Writer.Losses)))
		if len(codes) == 0 {
			out.WriteString("Nothing: it holds all that is known of a session of any client.\n")
			continue
		}
		out.WriteString("| consequence | code | loss |\n|---|---|---|\n")
		for _, consequence := range loss.Consequences() {
			for _, code := range codes {
				if d := code.Definition(); d.Consequence == consequence {
					fmt.Fprintf(&out, "| %s | %s | %s |\n", consequence, code, d.One)
				}
			}
		}
	}
	writerLosses(t, &out)
	readerLosses(t, &out)
	path := filepath.Join("..", "..", "docs", "fidelity.md")
	if golden.Updating() {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if was, err := os.ReadFile(path); err != nil || !bytes.Equal(was, out.Bytes()) {
		t.Errorf("%s is not what the writers declare (%v): run make golden\n%s", path, err, out.String())
	}
}

// conversion says how one format converts to another.
func conversion(from, to *formats.Format) string {
	switch {
	case formats.Related(from, to):
		return "exact"
	case to.Writer != nil && (from.Sessions != nil || from.Text): // the store in a text has sessions
		return "session"
	}
	return "-"
}

func names(list []*formats.Format) (out []string) {
	for _, f := range list {
		out = append(out, f.Name)
	}
	return out
}

const fidelityIntro = `# What conversions keep

This page lists which format converts to which, and everything that a session conversion to each format can change or
leave out. A conversion reports those that occurred, and nothing else; ` + "`rehome check --for FORMAT`" + ` reports them without
writing anything. [What survives](survival.md) counts what the next client's model received when the real clients resumed
sessions, and [What reaches Claude Code](claude-code.md) shows each kind of part and tool.

A test writes this page from what the formats declare. Another test writes every sample of every format to every format,
reads it again, and compares titles, subagents, and all that was said and done with the source: it fails if anything
differs without a loss that is reported and listed here.

## Conversions

An *exact* conversion copies every record, and compares the result with the source: nothing is lost. A *session*
conversion reads sessions and writes them in another format. ` + "`--by-session`" + ` converts related formats by session, too.
An archive converts like the store that it was made from.

`

const fidelityLosses = `
## Losses of session conversions

The consequence says what a loss means for you:

- *unseen*: the model does not see something
- *changed*: the model sees it in another form
- *client*: only the client shows less or can do less
- *none*: the conversation is not affected

[Losses](losses.md) explains each code. A source that is damaged or incomplete has losses of its own, with other codes,
whatever the target is.
`
