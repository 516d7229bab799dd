package archive

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/rule"
)

// tampering is an archive on disk that somebody edits.
type tampering struct {
	t   *testing.T
	dir string
}

func (a *tampering) read(name string) string {
	b, err := os.ReadFile(filepath.Join(a.dir, name))
	if err != nil {
		a.t.Fatal(err)
	}
	return string(b)
}

func (a *tampering) write(name, text string) {
	name = filepath.Join(a.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
		a.t.Fatal(err)
	}
}

func (a *tampering) move(from, to string) {
	a.write(to, a.read(from))
	a.remove(from)
}

func (a *tampering) remove(name string) {
	if err := os.Remove(filepath.Join(a.dir, name)); err != nil {
		a.t.Fatal(err)
	}
}

func (a *tampering) replace(name, old, new string) {
	was := a.read(name)
	is := strings.Replace(was, old, new, 1)
	if is == was {
		a.t.Fatalf("%s has no %q", name, old)
	}
	a.write(name, is)
}

// find returns the only file of which the name ends in this.
func (a *tampering) find(end string) (found string) {
	for name := range tree(a.t, a.dir) {
		if strings.HasSuffix(name, end) && (found == "" || name < found) {
			found = name
		}
	}
	return found
}

// sign writes lines under a trailer that fits, as somebody who knows the format would.
func (a *tampering) sign(name string, lines ...string) {
	var sum text
	for _, l := range lines {
		sum.add([]byte(l+"\n"), placeOf(name))
	}
	a.write(name, strings.Join(append(lines, ""), "\n")+string(sum.trailer()))
}

// seal writes lines of a common file with their digests.
func (a *tampering) seal(name string, lines ...string) {
	var b []byte
	for _, l := range lines {
		from := len(b)
		b = placeOf(name).seal(append(b, l+"\n"...), from)
	}
	a.write(name, string(b))
}

// TestTampered: text that was edited, moved or removed, or made up, is refused by a
// reader, which says where and why, and found by check.
func TestTampered(t *testing.T) {
	disk := "cursordiskkv.ndjson"
	for name, c := range map[string]struct {
		do   func(a *tampering)
		want string // of the error
		rule string // that check finds; "" where only restoring does
	}{
		"row edited":                  {func(a *tampering) { a.replace(a.find("/base.ndjson"), "message 1", "message 2") }, "does not match the digest in its last line", "RH384"},
		"row removed":                 {func(a *tampering) { a.replace(a.find("/base.ndjson"), "[1,", "[0,") }, "digest", "RH384"},
		"file moved":                  {func(a *tampering) { a.move(a.find("/base.ndjson"), "cursordiskkv/00/base.ndjson") }, "digest", "RH384"},
		"table removed":               {func(a *tampering) { a.remove(disk) }, "text of this table is missing", "RH382"},
		"database gone":               {func(a *tampering) { a.remove(databaseName) }, "not part of the archive", "RH381"},
		"no trailer":                  {func(a *tampering) { a.write(disk, "") }, "last line, with the number", "RH383"},
		"two trailers":                {func(a *tampering) { a.write(disk, a.read(disk)+a.read(disk)) }, "not a row of cells", "RH203"},
		"row after it":                {func(a *tampering) { a.write(disk, a.read(disk)+"[900,\"k\",null]\n") }, "rows after the line", "RH385"},
		"other spelling of a trailer": {func(a *tampering) { a.replace(disk, "{", "{ ") }, "not a row of cells", "RH203"},
		"capital digest":              {func(a *tampering) { a.write(disk, strings.ToUpper(a.read(disk))) }, "not a row of cells", "RH203"},
		"count beyond 64 bits":        {func(a *tampering) { a.replace(disk, `"rows":0`, `"rows":18446744073709551617`) }, "not a row of cells", "RH203"},

		"common row edited":          {func(a *tampering) { a.replace(a.find(".common.ndjson"), "base0", "base9") }, "line does not match its digest", "RH384"},
		"common digest edited":       {func(a *tampering) { f := a.find(".common.ndjson"); a.replace(f, `xxh3:`, `xxh4:`) }, "line does not match its digest", "RH384"},
		"common file moved":          {func(a *tampering) { a.move(a.find(".common.ndjson"), "cursordiskkv/00/blobs.common.ndjson") }, "line does not match its digest", "RH384"},
		"common digest missing":      {func(a *tampering) { a.write(a.find(".common.ndjson"), "[1,\"k\",null]\n") }, "line does not match its digest", "RH384"},
		"common short line":          {func(a *tampering) { a.write(a.find(".common.ndjson"), "]\n") }, "line does not match its digest", ""},
		"common key with two values": {func(a *tampering) { a.seal(a.find(".common.ndjson"), `[1,"k",null]`, `[2,"k",1]`) }, "same key as line 1", "RH385"},
		"key twice":                  {func(a *tampering) { a.sign(disk, `[900,"k",null]`, `[901,"k",null]`) }, "same key as line 1", "RH385"},
		"row id twice":               {func(a *tampering) { a.sign(disk, `[900,"k",null]`, `[900,"l",null]`) }, "not sorted by row id", "RH385"},
		"no row id left": {func(a *tampering) {
			a.sign(disk, `[9223372036854775807,"k",null]`)
			a.sign("cursordiskkv/00/x.ndjson", `[9223372036854775807,"l",null]`)
		}, "no row id left", ""},

		"entry edited":            {func(a *tampering) { a.replace(a.find(entrySuffix), `"createdAt":10`, `"createdAt":11`) }, "digest in its last line", "RH384"},
		"entry moved":             {func(a *tampering) { a.move(a.find(entrySuffix), "itemtable/00/x"+entrySuffix) }, "digest in its last line", "RH384"},
		"entry torn":              {func(a *tampering) { a.write(a.find(entrySuffix), "{") }, "last line, with the number", "RH384"},
		"entry of no row":         {func(a *tampering) { a.sign(a.find(entrySuffix), `{"key":"no","list":"all","id":"x","entry":1}`) }, "the table has no row", ""},
		"entry of no list":        {func(a *tampering) { a.sign(a.find(entrySuffix), `{"key":"heads","list":"version","id":"x","entry":1}`) }, "no empty list", ""},
		"entry of a text":         {func(a *tampering) { a.sign(a.find(entrySuffix), `{"key":"other","list":"all","id":"x","entry":1}`) }, "row \"other\"", ""},
		"entry spelled otherwise": {func(a *tampering) { a.sign(a.find(entrySuffix), `{"key":"heads", "list":"all","id":"x","entry":1}`) }, "the way rehome writes an entry", "RH384"},
		"entry in two files": {func(a *tampering) {
			f := a.find(entrySuffix)
			line, _, _ := strings.Cut(a.read(f), "\n")
			a.sign("itemtable/00/x"+entrySuffix, line)
		}, "row \"heads\"", ""},

		"plain file edited":        {func(a *tampering) { a.write("notes.txt", "other") }, "", "RH383"},
		"plain file removed":       {func(a *tampering) { a.remove("notes.txt") }, "is missing", "RH382"},
		"companion removed":        {func(a *tampering) { a.remove("notes.txt.xxh3") }, "not part of the archive", "RH381"},
		"companion edited":         {func(a *tampering) { a.write("notes.txt.xxh3", a.read("notes.txt.xxh3")+"\n") }, "not written the way", "RH380"},
		"companion without":        {func(a *tampering) { a.write("notes.txt.xxh3", "") }, "32 hexadecimal", "RH380"},
		"companion in capitals":    {func(a *tampering) { a.write("notes.txt.xxh3", "xxh3:"+strings.ToUpper(a.read("notes.txt.xxh3")[5:])) }, "not written the way", "RH380"},
		"two files in one place":   {func(a *tampering) { a.plain("Notes.txt", "x") }, "same path", "RH380"},
		"file of a device":         {func(a *tampering) { a.plain("aux.txt", "x") }, "not valid on Windows", "RH380"},
		"file of git":              {func(a *tampering) { a.plain("x/.gitmodules", "x") }, "reserved", "RH380"},
		"file inside a table":      {func(a *tampering) { a.plain("main.db/itemtable/00/y.ndjson", "x") }, "inside", "RH380"},
		"companion of a companion": {func(a *tampering) { a.plain("a.xxh3", "x") }, "", "RH380"},
		"database in a device":     {func(a *tampering) { a.write("con/database.json", a.read("main.db/database.json")) }, "not valid on Windows", "RH380"},

		"conflict in the manifest": {func(a *tampering) { a.replace(manifestName, "  \"origin\"", "<<<<<<< HEAD\n  \"origin\"") }, "unresolved merge conflict", "RH380"},
		"conflict in a database":   {func(a *tampering) { f := a.find(databaseName); a.write(f, "<<<<<<< HEAD\n"+a.read(f)) }, "unresolved merge conflict", "RH380"},
		"conflict in rows":         {func(a *tampering) { a.replace(a.find("/base.ndjson"), "{\"rows\"", "<<<<<<< HEAD\n{\"rows\"") }, "unresolved merge conflict", "RH131"},
		"half of a conflict":       {func(a *tampering) { a.replace(a.find("/base.ndjson"), "{\"rows\"", ">>>>>>> other\n{\"rows\"") }, "unresolved merge conflict", "RH131"},
		"conflict in an entry":     {func(a *tampering) { f := a.find(entrySuffix); a.write(f, "<<<<<<< HEAD\n"+a.read(f)+"=======\n") }, "unresolved merge conflict", "RH384"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			a := &tampering{t: t, dir: filepath.Join(t.TempDir(), "in")}
			p := new(person)
			p.session("base", 10, 3)
			plain := strings.Contains(name, "plain") || strings.Contains(name, "companion") || strings.Contains(name, "file") && !strings.Contains(name, "moved") && !strings.Contains(name, "entry") || strings.Contains(name, "in a device")
			p.archive(t, a.dir, 1, 50)
			if plain {
				a.several()
			}
			if _, _, err := read(t.Context(), a.dir, 1); err != nil {
				t.Fatal(err)
			}
			c.do(a)
			for _, jobs := range []int{1, 4} {
				_, _, err := read(t.Context(), a.dir, jobs)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				if strings.Contains(name, "conflict") && !strings.Contains(formats.Hint(err), "merge --finish") {
					t.Errorf("hint %q", formats.Hint(err))
				}
			}
			got := strings.Join(asked(t, a.dir, rule.Container|rule.Schema|rule.References), "\n")
			if !strings.Contains(got, c.rule) {
				t.Errorf("found %q, want %s", got, c.rule)
			}
		})
	}
}

// several makes the archive one of a store with a folder: a database and a file.
func (a *tampering) several() {
	m := documents(newSample(1, 1).schema, 0)[manifestName]
	b, err := signed(m)
	if err != nil {
		a.t.Fatal(err)
	}
	for name, text := range tree(a.t, a.dir) {
		if name == manifestName || name == attributesName {
			continue
		}
		to := path.Join("main.db", name)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		switch {
		case name == databaseName:
			a.move(name, to)
			continue
		case common(name):
			for i := range lines {
				lines[i] = lines[i][:len(lines[i])-sealLength] + "]"
			}
			a.seal(to, lines...)
		case len(lines) == 1:
			a.move(name, to)
			continue
		default:
			a.sign(to, lines[:len(lines)-1]...)
		}
		a.remove(name)
	}
	a.write(manifestName, string(b))
	a.plain("notes.txt", "some notes\n")
}

// plain adds a file of the store.
func (a *tampering) plain(name, contents string) {
	a.write(name, contents)
	a.write(name+companionSuffix, string(text{bytes: int64(len(contents)), digest: digest.Bytes([]byte(contents))}.companion()))
}
