package all_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/leaves"
	"rehome/formats/loss"
)

// readerLosses writes what each reader declares of the values in its stores. The law of leaves
// holds the readers to it.
func readerLosses(t *testing.T, out *bytes.Buffer) {
	t.Helper()
	out.WriteString(fidelityReaders)
	folders := map[string]string{"../internal/agentstate": "the state of a Cursor agent", "../internal/sdksession": "agents and runs of the Cursor SDK"}
	for _, f := range all.Registry().All() {
		if f.Sessions != nil {
			folders["../"+strings.ReplaceAll(f.Name, "-", "")] = f.Name
		}
	}
	var none []string
	list := make([][2]string, 0, len(folders))
	for folder, title := range folders {
		list = append(list, [2]string{title, folder})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	for _, f := range list {
		text, err := os.ReadFile(filepath.Join(f[1], "leaves.txt"))
		if err != nil {
			none = append(none, f[0])
			continue
		}
		d, err := leaves.ParseDeclared(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if rows := declaredRows(d); rows != "" {
			fmt.Fprintf(out, "\n### From %s\n\n| what becomes of it | why | where |\n|---|---|---|\n%s", f[0], rows)
		}
	}
	if len(none) > 0 {
		fmt.Fprintf(out, "\nNot yet declared: %s.\n", strings.Join(none, ", "))
	}
}

// writerLosses writes what each writer declares of the values in sessions, and of those that it
// adds. The law for writers holds them to it.
func writerLosses(t *testing.T, out *bytes.Buffer) {
	t.Helper()
	out.WriteString(fidelityWriters)
	for _, w := range writers(t) {
		from, to := leaves.Writes(w.text)
		for _, one := range [][2]string{{"Of a session, in " + w.title, from}, {"Besides, in " + w.title, to}} {
			d, err := leaves.ParseDeclared(one[1])
			if err != nil {
				t.Fatal(err)
			}
			if rows := declaredRows(d); rows != "" {
				fmt.Fprintf(out, "\n### %s\n\n| what becomes of it | why | where |\n|---|---|---|\n%s", one[0], rows)
			}
		}
	}
}

// writer is what the writer of formats declares.
type writer struct {
	title, text string
	formats     []*formats.Format
}

// writers finds the declarations of writers, which lie beside them.
func writers(t *testing.T) (list []writer) {
	t.Helper()
	owners := map[string][]*formats.Format{}
	for _, f := range all.Registry().All() {
		if f.Writer != nil {
			owners[strings.ReplaceAll(f.Name, "-", "")] = append(owners[strings.ReplaceAll(f.Name, "-", "")], f)
		}
		switch f.Name {
		case "cursor-sdk", "cursor-ndjson":
			owners["sdkwrite"] = append(owners["sdkwrite"], f)
			fallthrough
		case "cursor-ide":
			owners["agentwrite"] = append(owners["agentwrite"], f)
		}
	}
	for _, pattern := range []string{"../*/writes.txt", "../*/internal/write/writes.txt", "../internal/*/writes.txt"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			folder := strings.TrimSuffix(filepath.ToSlash(filepath.Dir(path)), "/internal/write")
			w := writer{text: string(text), formats: owners[folder[strings.LastIndexByte(folder, '/')+1:]]}
			if len(w.formats) == 0 {
				t.Errorf("%s: whose writer is it?", path)
			}
			w.title = strings.Join(names(w.formats), ", ")
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b writer) int { return cmp.Compare(a.title, b.title) })
	return list
}

// unshown are losses that no sample has to which the law for writers is held. The list may only
// get shorter: tests of the writer alone show them.
var unshown = map[string][]loss.Code{
	"claude-code": {
		loss.ArgumentsDropped, loss.ArgumentLeft, loss.BranchNotice, loss.SummaryUnused, loss.TurnAbandoned, loss.BlankText, loss.AnswerImage,
		loss.ThinkingUnsigned, loss.ThinkingHidden, loss.ThinkingRedacted,
	},
	"codex":         {loss.SummaryUnused, loss.AnswerImage, loss.ThinkingUnsigned, loss.ThinkingHidden, loss.ThinkingRedacted},
	"cursor-ndjson": {loss.MessageArchived, loss.SummaryUnused, loss.ThinkingHidden, loss.ThinkingUnsigned, loss.CallBeforePrompt},
	"cursor-ide":    {loss.MessageArchived, loss.SummaryUnused, loss.ThinkingHidden, loss.ThinkingUnsigned, loss.CallBeforePrompt},
	"cursor-sdk":    {loss.MessageArchived, loss.SummaryUnused, loss.ThinkingHidden, loss.ThinkingUnsigned, loss.CallBeforePrompt},
	"copilot":       {loss.SummaryUnused, loss.AnswerImage, loss.ThinkingUnsigned, loss.ThinkingHidden, loss.ThinkingRedacted},
	"pi":            {loss.SummaryUnused, loss.AnswerImage, loss.ThinkingUnsigned, loss.ThinkingHidden, loss.ThinkingRedacted},
}

// TestVerdict: what the law for a writer calls lost is what the writer says that it can lose, and
// so what people and check --for see of it.
func TestVerdict(t *testing.T) {
	lost := map[*formats.Format][]loss.Code{}
	for _, w := range writers(t) {
		from, _ := leaves.Writes(w.text)
		d, err := leaves.ParseDeclared(from)
		if err != nil {
			t.Fatal(err)
		}
		var codes []loss.Code
		for one := range d.All() {
			if one.Verb == "lost" {
				codes = append(codes, loss.Code(one.Of))
			}
		}
		for _, f := range w.formats {
			lost[f] = append(lost[f], codes...)
		}
	}
	for f, declared := range lost {
		for _, code := range declared {
			if !slices.Contains(f.Writer.Losses, code) {
				t.Errorf("%s: %s is declared as lost, but not among what the writer can lose", f.Name, code)
			}
		}
		for _, code := range f.Writer.Losses {
			known, unshown := slices.Contains(declared, code), slices.Contains(unshown[f.Name], code)
			switch {
			case code.Definition().Kind == loss.Dropped && !known && !unshown:
				t.Errorf("%s: %s can be lost, and no declaration says of what", f.Name, code)
			case known && unshown:
				t.Errorf("%s: a declaration has %s", f.Name, code)
			}
		}
	}
}

// declaredRows returns a row for each reason.
func declaredRows(d *leaves.Declared) string {
	var rows []string
	var where []string
	last := ""
	flush := func() {
		if last != "" {
			rows = append(rows, fmt.Sprintf("| %s | %s |\n", last, strings.Join(where, "<br>")))
		}
		where = nil
	}
	for one := range d.All() {
		if !one.Excuses() {
			continue
		}
		head := becomes(one.Verb, one.Of) + " | " + one.Reason
		if head != last {
			flush()
			last = head
		}
		where = append(where, "`"+strings.ReplaceAll(one.Pattern, "|", `\|`)+"`")
	}
	flush()
	return strings.Join(rows, "")
}

func becomes(verb, of string) string {
	switch verb {
	case "derived":
		return "kept in another form"
	case "superseded":
		return "another value repeats it"
	case "quoted":
		return "another text has it"
	case "kept":
		return "kept as extra data"
	case "lost":
		return "reported as " + of
	case "secret":
		return "withheld"
	case "copied":
		return "a copy, which the writer makes"
	case "invented":
		return "made by the writer"
	}
	return "left out"
}

const fidelityWriters = `
## What writers leave out and add

What a session has, a writer keeps in its target, or it is listed here; so is what the target has besides. A test looks
for every value of every sample in what each writer made of it, without a reader, and fails if one is missing that is not
in this list, if something stands there that nobody said and the list does not name, or if the list has an entry that no
sample needs. What is *reported* is what a conversion and ` + "`rehome check --for FORMAT`" + ` say.
`

const fidelityReaders = `
## What readers leave out

A reader of sessions keeps every value of a store: in the text of a message, in a field, or as extra data under the name
that the client gave it. The exceptions are listed here. A test reads each sample a second time, without the reader,
and fails if a value is missing that is not in this list, or if the list has an entry that no sample needs. In the last
column are the kind of the record and the path of the value: ` + "`*`" + ` stands for any name, ` + "`**`" + ` for any path.
`
