package convert

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/store"
	"rehome/schemas"
)

const withheldText = "right\norigin left\ntable t\n1\t!withheld\n2\tx\n3\t!withheld\n"

func TestSidecarGoesThereAndBack(t *testing.T) {
	dir := t.TempDir()
	src, db, again := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	rep := must(t, fakes(nil, nil), src, db, Options{})
	if rep.Sidecar != db+formats.SidecarSuffix || rep.Stores[0].Omitted != 2 || rep.Stores[0].Rows != 1 {
		t.Errorf("%+v", rep)
	}
	if b, _ := os.ReadFile(db); string(b) != "left\norigin left\ntable t\n2\tx\n" {
		t.Errorf("restored %q", b)
	}
	if rep = must(t, fakes(nil, nil), db, again, Options{To: "right"}); rep.Sidecar != "" {
		t.Errorf("sidecar of text: %+v", rep)
	}
	if b, _ := os.ReadFile(filepath.Join(again, "rows.txt")); string(b) != withheldText {
		t.Errorf("archived again %q", b)
	}
	must(t, fakes(nil, nil), db, filepath.Join(dir, "d"), Options{To: "right", Sidecar: "none"})
	if b, _ := os.ReadFile(filepath.Join(dir, "d", "rows.txt")); strings.Contains(string(b), "withheld") {
		t.Errorf("none was read all the same: %q", b)
	}
}

// TestSidecarIsHandedOn: a copy of a database lacks what the database lacks,
// and never holds a marker.
func TestSidecarIsHandedOn(t *testing.T) {
	dir := t.TempDir()
	src, db, again := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	must(t, fakes(nil, nil), src, db, Options{})
	rep := must(t, fakes(nil, nil), db, again, Options{To: "left"})
	one, _ := os.ReadFile(db + formats.SidecarSuffix)
	two, _ := os.ReadFile(again + formats.SidecarSuffix)
	if len(one) == 0 || !bytes.Equal(one, two) || rep.Stores[0].Omitted != 0 {
		t.Errorf("sidecar %q became %q", one, two)
	}
	if b, _ := os.ReadFile(again); strings.Contains(string(b), "withheld") {
		t.Errorf("a marker in a database: %q", b)
	}
}

func TestSidecarOfStoresThatAreGone(t *testing.T) {
	dir := t.TempDir()
	db := write(t, filepath.Join(dir, "b"), leftText(1))
	write(t, db+formats.SidecarSuffix, sidecarHeader+`{"store":"gone","at":{"file":"","set":"t"},"row":[null]}`+"\n")
	var said []string
	must(t, fakes(nil, nil), db, filepath.Join(dir, "c"), Options{To: "right", OnNotice: func(s string) { said = append(said, s) }})
	if len(said) != 1 || !strings.Contains(said[0], "ignored its items for 1 missing store") {
		t.Errorf("said %q", said)
	}
}

func TestSidecarOfManyStoresAndInANamedFile(t *testing.T) {
	for _, named := range []bool{false, true} {
		dir := t.TempDir()
		src, db, again := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
		for _, s := range []string{"x", "y/z", "w"} {
			write(t, filepath.Join(src, s, "rows.txt"), withheldText)
		}
		write(t, filepath.Join(src, "plain", "rows.txt"), "right\norigin left\ntable t\n2\tx\n")
		o := Options{}
		if named {
			o.Sidecar = filepath.Join(dir, "kept")
		}
		rep := must(t, fakes(nil, nil), src, db, o)
		if want := pick(named, o.Sidecar, db+formats.SidecarSuffix); rep.Sidecar != want {
			t.Errorf("sidecar %q, want %q", rep.Sidecar, want)
		}
		o.To = "right"
		must(t, fakes(nil, nil), db, again, o)
		if a, b := strings.Join(tree(t, src), "\n"), strings.Join(tree(t, again), "\n"); a != b {
			t.Errorf("named %v: went\n%s\ncame back\n%s", named, a, b)
		}
		if named {
			leavesNothing(t, dir, func() {
				_, err := Convert(t.Context(), fakes(nil, nil), src, filepath.Join(dir, "d"), Options{Sidecar: o.Sidecar})
				if !errors.Is(err, formats.ErrExists) {
					t.Errorf("a named sidecar was overwritten: %v", err)
				}
			})
		}
	}
}

func TestStaleSidecarIsRefusedOrKept(t *testing.T) {
	dir := t.TempDir()
	src, db := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	write(t, db+formats.SidecarSuffix, sidecarHeader)
	for _, sidecar := range []string{"", "none", filepath.Join(dir, "named")} {
		leavesNothing(t, dir, func() {
			_, err := Convert(t.Context(), fakes(nil, nil), src, db, Options{Sidecar: sidecar})
			if !errors.Is(err, formats.ErrExists) || !strings.Contains(formats.Hint(err), "--replace") {
				t.Errorf("got %v", err)
			}
		})
	}
	write(t, db, "old")
	must(t, fakes(nil, nil), src, db, Options{Replace: true})
	if b, _ := os.ReadFile(db + ".bak-1" + formats.SidecarSuffix); string(b) != sidecarHeader {
		t.Errorf("the old sidecar is not with the old target: %q", tree(t, dir))
	}
	if b, _ := os.ReadFile(db + formats.SidecarSuffix); strings.Count(string(b), "\n") != 3 {
		t.Errorf("new sidecar: %q", b)
	}
}

func TestSidecarFileInTheWay(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "a")
	write(t, filepath.Join(src, "rows.txt"), withheldText)
	for _, at := range []string{filepath.Join(src, "r"), filepath.Join(dir, "b"), filepath.Join(dir, "b", "r"), filepath.Join(dir, "gone", "r"), src} {
		leavesNothing(t, dir, func() {
			if _, err := Convert(t.Context(), fakes(nil, nil), src, filepath.Join(dir, "b"), Options{Sidecar: at, Replace: true}); err == nil {
				t.Errorf("sidecar at %s", at)
			}
		})
	}
}

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
	text := []byte(sidecarHeader)
	var err error
	for _, it := range everyItem() {
		if text, err = appendItem(text, "some/store", it); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readSidecar(bytes.NewReader(text), "r")
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
		o := &omittedItems{}
		o.add(it)
		if o.failure() == nil || o.n != 1 {
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
		"torn header":      strings.TrimSpace(sidecarHeader),
		"torn line":        sidecarHeader + at + `"row":[null]}`,
		"no JSON":          sidecarHeader + "SECRET\n",
		"trailing text":    sidecarHeader + at + `"row":[null]} SECRET` + "\n",
		"empty line":       sidecarHeader + "\n",
		"CRLF":             sidecarHeader + at + `"row":[null]}` + "\r\n",
		"CRLF by git":      strings.TrimSpace(sidecarHeader) + "\r\n" + at + `"row":[null]}` + "\r\n",
		"doubled member":   sidecarHeader + at + `"row":[null],"row":[{"text":"SECRET"}]}` + "\n",
		"unknown member":   sidecarHeader + at + `"row":[null],"SECRET":1}` + "\n",
		"case of a member": sidecarHeader + at + `"Row":[null]}` + "\n",
		"two classes":      sidecarHeader + at + `"row":[{"int":"1","text":"SECRET"}]}` + "\n",
		"no class":         sidecarHeader + at + `"row":[{}]}` + "\n",
		"odd integer":      sidecarHeader + at + `"row":[{"int":"+1"}]}` + "\n",
		"large integer":    sidecarHeader + at + `"row":[{"int":"9223372036854775808"}]}` + "\n",
		"decimal real":     sidecarHeader + at + `"row":[{"real":"1.5"}]}` + "\n",
		"no real":          sidecarHeader + at + `"row":[{"real":"SECRET"}]}` + "\n",
		"NaN":              sidecarHeader + at + `"row":[{"real":"NaN"}]}` + "\n",
		"bad base64":       sidecarHeader + at + `"row":[{"blob64":"SECRET!"}]}` + "\n",
		"loose base64":     sidecarHeader + at + `"row":[{"blob64":"AB=="}]}` + "\n",
		"text as text64":   sidecarHeader + at + `"row":[{"text64":"QQ=="}]}` + "\n",
		"bad digest":       sidecarHeader + at + `"inserts":[{"offset":0,"text":"x"}],"digest":"xxh3:0"}` + "\n",
		"neither":          sidecarHeader + `{"at":{"file":"","set":"t"}}` + "\n",
		"both":             sidecarHeader + at + `"row":[null],"inserts":[{"offset":0,"text":"x"}]}` + "\n",
		"falling offsets":  sidecarHeader + at + `"inserts":[{"offset":5,"text":"x"},{"offset":4,"text":"x"}]}` + "\n",
		"before the start": sidecarHeader + at + `"inserts":[{"offset":-1,"text":"x"}]}` + "\n",
		"negative column":  sidecarHeader + at + `"column":-1,"row":[null]}` + "\n",
		"deep":             sidecarHeader + strings.Repeat("[", 100_000) + "\n",
		"long":             sidecarHeader + strings.Repeat(" ", maxSidecar) + "\n",
		"second header":    sidecarHeader + sidecarHeader,
		"wrong sum":        sidecarHeader + at + `"row":[null],"sum":"0123456789abcdef"}` + "\n",
		"no sum":           sidecarHeader + at + `"row":[null],"sum":""}` + "\n",
		"edited":           sidecarHeader + strings.Replace(string(withChecksum([]byte(at+`"row":[{"text":"SECRET"}]}`+"\n"))), "SECRET", "SECRES", 1),
	} {
		got, err := readSidecar(strings.NewReader(text), "r")
		if err == nil || !strings.HasPrefix(err.Error(), "r:") || formats.Hint(err) == "" {
			t.Errorf("%s: %v, %v", name, got, err)
		} else if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the error gives the content away: %v", name, err)
		}
	}
}

func FuzzSidecar(f *testing.F) {
	text := []byte(sidecarHeader)
	for _, it := range everyItem() {
		text, _ = appendItem(text, "", it)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := readSidecar(bytes.NewReader(b), "r")
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
