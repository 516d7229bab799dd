package sidecar

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
	"rehome/schemas"
)

func everyItem() []store.SidecarItem {
	return []store.SidecarItem{
		{At: store.Addr{File: "index.db", Set: "runs", RowID: -42, HasID: true, Key: store.TextCell([]byte("k"))}, Row: []store.Cell{
			store.NullCell(), store.IntCell(math.MinInt64), store.IntCell(0), store.RealCell(math.Copysign(0, -1)), store.RealCell(math.Inf(1)),
			store.RealCell(math.Inf(-1)), store.RealCell(5e-324), store.RealCell(0.1), store.TextCell([]byte{}), store.TextCell([]byte("<a>\u2028\x00é\"")),
			store.TextCell([]byte("\xff\xed\xa0\x80")), store.BlobCell([]byte{}), store.BlobCell([]byte{0, 255}), store.WithheldCell(),
		}},
		{At: store.Addr{Set: "t", Line: 7}, Column: 3, Inserts: []store.Insert{{Offset: 0, Text: "{"}, {Offset: 9, Text: `"a":1,`}}, Digest: store.Digest{Hi: 1, Lo: math.MaxUint64}},
		{At: store.Addr{Set: "t", RowID: math.MaxInt64, HasID: true, Key: store.BlobCell([]byte{1})}, Inserts: []store.Insert{{Offset: 5, Text: "x"}}},
	}
}

func TestSidecarText(t *testing.T) {
	text := []byte(Header)
	var err error
	for _, it := range everyItem() {
		if text, err = appendItem(text, "some/store", it); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(bytes.NewReader(text), "r")
	if err != nil {
		t.Fatal(err)
	}
	want := everyItem()
	for i, it := range got["some/store"] {
		for c := range it.Row { // -0.0 equals 0.0 to a comparison of values
			if it.Row[c].Class != want[i].Row[c].Class || it.Row[c].Bits() != want[i].Row[c].Bits() || !bytes.Equal(it.Row[c].Bytes(), want[i].Row[c].Bytes()) {
				t.Errorf("item %d, cell %d: %+v, want %+v", i, c, it.Row[c], want[i].Row[c])
			}
		}
		it.Row, want[i].Row = nil, nil
		if !reflect.DeepEqual(it, want[i]) {
			t.Errorf("item %d: %+v, want %+v", i, it, want[i])
		}
	}
	if len(got["some/store"]) != len(want) {
		t.Errorf("%d items came back", len(got["some/store"]))
	}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		if err := schemas.Validate("residue-1", line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestSidecarCannotHold(t *testing.T) {
	for name, it := range map[string]store.SidecarItem{
		"a file that is not UTF-8":   {At: store.Addr{File: "\xff"}, Row: []store.Cell{store.NullCell()}},
		"an insert that is not":      {Inserts: []store.Insert{{Text: "\xff"}}},
		"a number that is no number": {Row: []store.Cell{store.RealCell(math.NaN())}},
		"an unknown class":           {Row: []store.Cell{{Class: 99}}},
	} {
		o := &Omitted{}
		o.Add(it)
		if o.Failure() == nil || o.N != 1 {
			t.Errorf("%s was kept", name)
		}
	}
}

// Each line is refused, with its number and without its content.
func TestHostileSidecar(t *testing.T) {
	at := `{"at":{"file":"","set":"t"},`
	for name, text := range map[string]string{
		"empty":            "",
		"no header":        at + `"row":[null]}` + "\n",
		"another version":  `{"rehome":"residue","version":2}` + "\n",
		"torn header":      strings.TrimSpace(Header),
		"torn line":        Header + at + `"row":[null]}`,
		"no JSON":          Header + "SECRET\n",
		"trailing text":    Header + at + `"row":[null]} SECRET` + "\n",
		"empty line":       Header + "\n",
		"CRLF":             Header + at + `"row":[null]}` + "\r\n",
		"CRLF by git":      strings.TrimSpace(Header) + "\r\n" + at + `"row":[null]}` + "\r\n",
		"doubled member":   Header + at + `"row":[null],"row":[{"text":"SECRET"}]}` + "\n",
		"unknown member":   Header + at + `"row":[null],"SECRET":1}` + "\n",
		"case of a member": Header + at + `"Row":[null]}` + "\n",
		"two classes":      Header + at + `"row":[{"int":"1","text":"SECRET"}]}` + "\n",
		"no class":         Header + at + `"row":[{}]}` + "\n",
		"odd integer":      Header + at + `"row":[{"int":"+1"}]}` + "\n",
		"large integer":    Header + at + `"row":[{"int":"9223372036854775808"}]}` + "\n",
		"decimal real":     Header + at + `"row":[{"real":"1.5"}]}` + "\n",
		"no real":          Header + at + `"row":[{"real":"SECRET"}]}` + "\n",
		"NaN":              Header + at + `"row":[{"real":"NaN"}]}` + "\n",
		"bad base64":       Header + at + `"row":[{"blob64":"SECRET!"}]}` + "\n",
		"loose base64":     Header + at + `"row":[{"blob64":"AB=="}]}` + "\n",
		"text as text64":   Header + at + `"row":[{"text64":"QQ=="}]}` + "\n",
		"bad digest":       Header + at + `"inserts":[{"offset":0,"text":"x"}],"digest":"xxh3:0"}` + "\n",
		"neither":          Header + `{"at":{"file":"","set":"t"}}` + "\n",
		"both":             Header + at + `"row":[null],"inserts":[{"offset":0,"text":"x"}]}` + "\n",
		"falling offsets":  Header + at + `"inserts":[{"offset":5,"text":"x"},{"offset":4,"text":"x"}]}` + "\n",
		"before the start": Header + at + `"inserts":[{"offset":-1,"text":"x"}]}` + "\n",
		"negative column":  Header + at + `"column":-1,"row":[null]}` + "\n",
		"deep":             Header + strings.Repeat("[", 100_000) + "\n",
		"long":             Header + strings.Repeat(" ", MaxSize) + "\n",
		"second header":    Header + Header,
		"wrong sum":        Header + at + `"row":[null],"sum":"0123456789abcdef"}` + "\n",
		"no sum":           Header + at + `"row":[null],"sum":""}` + "\n",
		"edited":           Header + strings.Replace(string(withChecksum([]byte(at+`"row":[{"text":"SECRET"}]}`+"\n"))), "SECRET", "SECRES", 1),
	} {
		got, err := Read(strings.NewReader(text), "r")
		if err == nil || !strings.HasPrefix(err.Error(), "r:") || formats.Hint(err) == "" {
			t.Errorf("%s: %v, %v", name, got, err)
		} else if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the error gives the content away: %v", name, err)
		}
	}
}

func FuzzSidecar(f *testing.F) {
	text := []byte(Header)
	for _, it := range everyItem() {
		text, _ = appendItem(text, "", it)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Read(bytes.NewReader(b), "r")
		if err != nil {
			return
		}
		n := 0
		for key, items := range got {
			for _, it := range items {
				n++
				line, err := plainItem(key, it)
				if err != nil || !bytes.Contains(b, line) && !bytes.Contains(b, withChecksum(line)) {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
		if lines := bytes.Count(b, []byte("\n")); n != lines-1 {
			t.Errorf("%d items of %d lines", n, lines)
		}
	})
}

// TestSidecarInCRLF: the hint names the pattern that keeps git from doing it.
func TestSidecarInCRLF(t *testing.T) {
	for _, suffix := range []string{formats.SidecarSuffix, formats.OldSidecarSuffix} {
		for _, header := range []string{Header, OldHeader} {
			_, err := Read(strings.NewReader(strings.TrimSpace(header)+"\r\n"), "x"+suffix)
			if err == nil || !strings.Contains(formats.Hint(err), "`*"+suffix+" -text`") {
				t.Errorf("%s, %q: %v (%s)", suffix, header, err, formats.Hint(err))
			}
		}
	}
}
