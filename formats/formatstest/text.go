package formatstest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
	"rehome/schemas"
)

// texts returns the text formats among the targets.
func (c Case) texts() []*formats.Format {
	return slices.DeleteFunc(c.targets(), func(f *formats.Format) bool { return !f.Text })
}

// text: the text form of a store does not depend on the number of workers,
// compressed or not, and is what its published schemas say.
func text(t *testing.T, c Case, s source) {
	for _, to := range c.texts() {
		for _, compress := range []string{"", "gzip", "zstd"} {
			one, err := write(t, c, c.Format, s.path, writing{to: to, compress: compress, jobs: 1})
			if no := (*refusal)(nil); errors.As(err, &no) && compress != "" {
				no.allowed(t, to.Name)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			many, err := write(t, c, c.Format, s.path, writing{to: to, compress: compress, jobs: 8})
			if err != nil {
				t.Fatal(err)
			}
			what := strings.TrimSpace(to.Name + " " + compress)
			sameTree(t, what+": one worker and eight", tree(t, one), tree(t, many))
			view := formats.View{Kind: formats.SharedKind(c.Format, to)}
			same(t, what, mustRead(t, c.Format, s.path, view).sorted(), mustRead(t, to, one, view).sorted())
			validate(t, to, one)
		}
	}
}

// validate validates a text store with its format's schemas: NAME-manifest-2 is
// for manifest.json, NAME-database-2 for database.json, NAME-row-1 of each line of a
// table, NAME-trailer-2 of the last one, NAME-common-2 of each line of a common file,
// NAME-entry-2 of the first line of the file of an entry,
// and NAME-KIND-1 of each line of a file KINDs.ndjson.
func validate(t *testing.T, f *formats.Format, at string) {
	t.Helper()
	plain := map[string]bool{}
	for _, set := range mustRead(t, f, at, formats.View{}).schema.Sets {
		if set.Kind == store.Plain {
			plain[set.File] = true
		}
	}
	documents := map[string]string{"manifest.json": f.Name + "-manifest-2", "database.json": f.Name + "-database-2"}
	for name, text := range tree(t, at) {
		row := f.Name + "-row-1"
		for _, schema := range f.Schemas {
			kind := strings.TrimSuffix(strings.TrimPrefix(schema, f.Name+"-"), "-1")
			if strings.HasSuffix(name, kind+"s.ndjson") {
				row = schema
			}
		}
		switch {
		case plain[name]:
		case slices.Contains(f.Schemas, documents[path.Base(name)]):
			if err := schemas.Validate(documents[path.Base(name)], text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case path.Ext(name) == ".ndjson" && slices.Contains(f.Schemas, row):
			for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
				of := row
				switch common, trailer := f.Name+"-common-2", f.Name+"-trailer-2"; {
				case strings.HasSuffix(name, ".common.ndjson") && slices.Contains(f.Schemas, common):
					of = common
				case bytes.HasPrefix(line, []byte(`{"rows":`)) && slices.Contains(f.Schemas, trailer):
					of = trailer
				case strings.HasSuffix(name, ".entry.ndjson"):
					of = f.Name + "-entry-2"
				}
				if err := schemas.Validate(of, line); err != nil {
					t.Errorf("%s:%d: %v", name, i+1, err)
				}
			}
		}
	}
}

// thereAndBack: text made from a store made from text is the same text, byte
// for byte. What the store must not hold travels in a sidecar. The way leads by
// the format that the text came from: another one's name would stand in it.
func thereAndBack(t *testing.T, c Case, s source) {
	origin := mustRead(t, c.Format, s.path, formats.View{}).schema.Origin
	for _, to := range c.targets() {
		text, other := to, c.Format
		if c.Format.Text {
			text, other = c.Format, to
		}
		if !text.Text || other.Name != origin || text.Records == nil || other.Records == nil {
			continue
		}
		var there, omitted []store.SidecarItem
		first, err := write(t, c, c.Format, s.path, writing{to: text, told: &there})
		if err != nil {
			t.Fatal(err)
		}
		back, err := write(t, c, text, first, writing{to: other, beside: there, told: &omitted, view: formats.View{
			Secrets: formats.OmitWithheld,
			OnOmit:  func(i store.SidecarItem) { omitted = append(omitted, i) },
		}})
		if err != nil {
			t.Fatal(err)
		}
		second, err := write(t, c, other, back, writing{to: text, view: formats.View{Sidecar: omitted}})
		if err != nil {
			t.Fatal(err)
		}
		sameTree(t, text.Name+" by way of "+other.Name, tree(t, first), tree(t, second))
	}
}

// secrets: a text written without secrets contains none; restoring it writes no
// marker; and with what the restore omitted, the text written again is the same.
func secrets(t *testing.T, c Case, s source) {
	if c.Format.Text {
		return // its secrets, if any, were left out when it was written
	}
	for _, to := range c.texts() {
		var there, omitted []store.SidecarItem
		first, err := write(t, c, c.Format, s.path, writing{to: to, told: &there, view: formats.View{Secrets: formats.WithholdSecrets}})
		if err != nil {
			t.Fatal(err)
		}
		written := tree(t, first)
		for _, it := range there {
			sidecar := fmt.Appendf(written["sidecar"], "%v %v\n", it.At, it.Inserts)
			for _, cell := range it.Row {
				sidecar = append(append(sidecar, cell.Bytes()...), '\n')
			}
			written["sidecar"] = sidecar
		}
		for name, b := range written {
			for _, secret := range s.Secrets {
				if holds(b, secret) {
					t.Errorf("%s: %s holds a secret", to.Name, name)
				}
			}
		}
		if c.Format.Records == nil {
			continue
		}
		back, err := write(t, c, to, first, writing{to: c.Format, beside: there, told: &omitted, view: formats.View{
			Secrets: formats.OmitWithheld,
			OnOmit:  func(i store.SidecarItem) { omitted = append(omitted, i) },
		}})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Real && (len(omitted) > 0) != (len(s.Secrets) > 0) {
			t.Errorf("%d things were left out of a store with %d secrets", len(omitted), len(s.Secrets))
		}
		for name, b := range tree(t, back) {
			if len(s.Secrets) > 0 && holds(b, "rehome:withheld") {
				t.Errorf("%s: a marker stands in %s", c.Format.Name, name)
			}
		}
		again, err := write(t, c, c.Format, back, writing{to: to, view: formats.View{Secrets: formats.WithholdSecrets, Sidecar: omitted}})
		if err != nil {
			t.Fatal(err)
		}
		sameTree(t, to.Name+" with a sidecar", tree(t, first), tree(t, again))
	}
}

// holds reports whether b contains a string: as it is, in hexadecimal, or in base64
// at any offset.
func holds(text []byte, s string) bool {
	if bytes.Contains(text, []byte(s)) || bytes.Contains(text, []byte(hex.EncodeToString([]byte(s)))) {
		return true
	}
	for pad := range 3 {
		// The first and last characters of base64 depend on the neighbors.
		whole := s[pad : pad+(len(s)-pad)/3*3]
		if len(whole) >= 3 && bytes.Contains(text, []byte(base64.StdEncoding.EncodeToString([]byte(whole)))) {
			return true
		}
	}
	return false
}
