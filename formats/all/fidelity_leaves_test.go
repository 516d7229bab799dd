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

	"rehome/formats/all"
	"rehome/formats/formatstest/leaves"
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
		if rows := readerRows(d); rows != "" {
			fmt.Fprintf(out, "\n### From %s\n\n| what becomes of it | why | where |\n|---|---|---|\n%s", f[0], rows)
		}
	}
	if len(none) > 0 {
		fmt.Fprintf(out, "\nNot yet declared: %s.\n", strings.Join(none, ", "))
	}
}

// readerRows returns a row for each reason.
func readerRows(d *leaves.Declared) string {
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
		if one.Verb == "said" {
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
	case "kept":
		return "kept as extra data"
	case "lost":
		return "reported as " + of
	case "secret":
		return "withheld"
	}
	return "left out"
}

const fidelityReaders = `
## What readers leave out

A reader of sessions keeps every value of a store: in the text of a message, in a field, or as extra data under the name
that the client gave it. The exceptions are listed here. A test reads each sample a second time, without the reader,
and fails if a value is missing that is not in this list, or if the list has an entry that no sample needs. In the last
column are the kind of the record and the path of the value: ` + "`*`" + ` stands for any name, ` + "`**`" + ` for any path.
`
