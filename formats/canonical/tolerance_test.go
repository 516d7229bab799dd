package canonical

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/schemas"
)

const (
	plainHead    = `{"type":"session","version":1,"id":"a","agent":"x"}`
	plainMessage = `{"type":"message","id":"m1","role":"user","parts":[{"type":"text","text":"hello"}]}`
)

func readText(t *testing.T, text string) ([]*held, []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return read(t, path, session.Selection{})
}

// TestStrangers: what is put in at any level comes back, and what comes back is
// as the schema says.
func TestStrangers(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"session","version":1,"id":"a","agent":"x","mood":{"a":[1]}}`:                                                                     `{"type":"session","version":1,"id":"a","agent":"x","extras":[{"name":"mood","raw":{"a":[1]}}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","title":5,"title":"T","title":"U"}`:                                                    `{"type":"session","version":1,"id":"a","agent":"x","title":"T","extras":[{"name":"title","raw":5},{"name":"title","raw":"U"}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","parent":{"session":"p","x":1}}`:                                                       `{"type":"session","version":1,"id":"a","agent":"x","parent":{"session":"p"},"extras":[{"name":"parent/x","raw":1}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","repos":[{"path":"p"},{"path":"q","x":1}]}`:                                            `{"type":"session","version":1,"id":"a","agent":"x","repos":[{"path":"p"},{"path":"q"}],"extras":[{"name":"repos/1/x","raw":1}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","repos":[{"path":"p"},7]}`:                                                             `{"type":"session","version":1,"id":"a","agent":"x","extras":[{"name":"repos","raw":[{"path":"p"},7]}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","todos":[{"content":"c","x":1}]}`:                                                      `{"type":"session","version":1,"id":"a","agent":"x","todos":[{"content":"c","extras":[{"name":"x","raw":1}]}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","context":{"used":1,"max":2,"x":"y"}}`:                                                 `{"type":"session","version":1,"id":"a","agent":"x","context":{"used":1,"max":2},"extras":[{"name":"context/x","raw":"y"}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","children":[{"session":"c","x":null}]}`:                                                `{"type":"session","version":1,"id":"a","agent":"x","children":[{"session":"c"}],"extras":[{"name":"children/0/x","raw":null}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","branches":[{"name":"b","x":1}]}`:                                                      `{"type":"session","version":1,"id":"a","agent":"x","branches":[{"name":"b"}],"extras":[{"name":"branches/0/x","raw":1}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","created":"2026-01-01"}`:                                                               `{"type":"session","version":1,"id":"a","agent":"x","extras":[{"name":"created","raw":"2026-01-01"}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","extras":[{"name":"n","raw":1,"x":2}]}`:                                                `{"type":"session","version":1,"id":"a","agent":"x","extras":[{"name":"n","raw":1},{"name":"extras/0/x","raw":2}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","extras":{"a":1}}`:                                                                     `{"type":"session","version":1,"id":"a","agent":"x","extras":[{"name":"extras","raw":{"a":1}}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","title":"","title":"T"}`:                                                               `{"type":"session","version":1,"id":"a","agent":"x","extras":[{"name":"title","raw":"T"}]}`,
		`{"type":"session","version":1,"id":"a","agent":"x","extras":[],"extras":[{"name":"n"}]}`:                                                  `{"type":"session","version":1,"id":"a","agent":"x","extras":[{"name":"extras","raw":[{"name":"n"}]}]}`,
		`{"type":"message","id":"m","role":"user","x":1}`:                                                                                          `{"type":"message","id":"m","role":"user","extras":[{"name":"x","raw":1}]}`,
		`{"type":"message","id":"m","role":"user","simulated":false}`:                                                                              `{"type":"message","id":"m","role":"user","extras":[{"name":"simulated","raw":false}]}`,
		`{"type":"message","id":"m","role":"user","turn":{"number":1.0}}`:                                                                          `{"type":"message","id":"m","role":"user","turn":{"number":1,"extras":[{"name":"number","raw":1.0}]}}`,
		`{"type":"message","id":"m","role":"user","turn":{"number":1,"x":1,"usage":{"input":1,"x":2}}}`:                                            `{"type":"message","id":"m","role":"user","turn":{"number":1,"usage":{"input":1},"extras":[{"name":"x","raw":1},{"name":"usage/x","raw":2}]}}`,
		`{"type":"message","id":"m","role":"user","turn":{"number":1,"usage":{"input":-5}}}`:                                                       `{"type":"message","id":"m","role":"user","turn":{"number":1,"usage":{},"extras":[{"name":"usage/input","raw":-5}]}}`,
		`{"type":"message","id":"m","role":"user","parts":[{"type":"text","text":"a","x":1}]}`:                                                     `{"type":"message","id":"m","role":"user","parts":[{"type":"text","text":"a","extras":[{"name":"x","raw":1}]}]}`,
		`{"type":"message","id":"m","role":"user","parts":[{"type":"hologram","x":1}]}`:                                                            `{"type":"message","id":"m","role":"user","parts":[{"type":"opaque","kind":"hologram","raw":{"type":"hologram","x":1}}]}`,
		`{"type":"message","id":"m","role":"user","parts":[{"type":"opaque","raw":1,"x":2}]}`:                                                      `{"type":"message","id":"m","role":"user","parts":[{"type":"opaque","raw":1}],"extras":[{"name":"parts/0/x","raw":2}]}`,
		`{"type":"message","id":"m","role":"user","parts":["a"]}`:                                                                                  `{"type":"message","id":"m","role":"user","extras":[{"name":"parts","raw":["a"]}]}`,
		`{"type":"message","id":"m","role":"user","parts":[{"type":"thinking","data":{"a":1}}]}`:                                                   `{"type":"message","id":"m","role":"user","parts":[{"type":"thinking","extras":[{"name":"data","raw":{"a":1}}]}]}`,
		`{"type":"message","id":"m","role":"user","parts":[{"type":"media","base64":"AAE"}]}`:                                                      `{"type":"message","id":"m","role":"user","parts":[{"type":"media","extras":[{"name":"base64","raw":"AAE"}]}]}`,
		`{"type":"message","id":"m","role":"user","parts":[{"type":"media","base64":"AA\nE="}]}`:                                                   `{"type":"message","id":"m","role":"user","parts":[{"type":"media","extras":[{"name":"base64","raw":"AA\nE="}]}]}`,
		`{"type":"message","id":"m","role":"tool","parts":[{"type":"tool_result","call":"c","content":[{"type":"opaque","x":1},{"type":"new"}]}]}`: `{"type":"message","id":"m","role":"tool","parts":[{"type":"tool_result","call":"c","content":[{"type":"opaque"},{"type":"opaque","kind":"new","raw":{"type":"new"}}],"extras":[{"name":"content/0/x","raw":1}]}]}`,
		`{"type":"file","path":"p","x":1,"before":{"text":"a","base64":"YQ==","y":2}}`:                                                             `{"type":"file","path":"p","before":{"text":"a"},"extras":[{"name":"x","raw":1},{"name":"before/base64","raw":"YQ=="},{"name":"before/y","raw":2}]}`,
		`{ "ro\u006ce" : "user" , "id" : "\u006d", "type" : "message" }`:                                                                           `{"type":"message","id":"m","role":"user"}`,
	} {
		text := in + "\n"
		if !strings.Contains(in, `"session","version"`) {
			text = plainHead + "\n" + in + "\n"
		}
		got, notes := readText(t, text)
		if len(got) != 1 || len(notes) > 0 {
			t.Errorf("%s: %d sessions, notes %q", in, len(got), notes)
			continue
		}
		spelt := got[0].spell()
		if last := spelt[len(spelt)-1]; last != want {
			t.Errorf("%s\n got %s\nwant %s", in, last, want)
		} else if err := schemas.Validate("canonical-1", []byte(last)); err != nil {
			t.Errorf("%s: %v", last, err)
		}
		again, _ := readText(t, strings.Join(spelt, "\n")+"\n")
		if !slices.Equal(again[0].spell(), spelt) {
			t.Errorf("%s: not the same a second time", in)
		}
	}
}

// TestBadLines: each is noted with its place, and the others are read.
func TestBadLines(t *testing.T) {
	head, message := plainHead+"\n", plainMessage+"\n"
	for text, want := range map[string]string{
		head + message + `{"type":"message","id":"m2","ro`:               "1:1 unreadable :3 L305",
		head + message + strings.TrimSuffix(message, "\n"):               "1:2 ",
		head + "no json\n" + message:                                     "1:1 unreadable :2 L306",
		head + "[1]\n" + message:                                         "1:1 unreadable :2 L306",
		head + `{"type":"message","role":"user"}` + "\n" + message:       "1:1 unreadable :2 L331 message without an id or a role",
		head + `{"type":"file"}` + "\n":                                  "1:0 unreadable :2 L331 file without a path",
		head + `{"type":"note"}` + "\n" + message:                        "1:1 unreadable :2 L330",
		head + `{"type":"file","path":"p"}` + "\n" + message:             "1:0 unreadable :3 L330",
		head + strings.Replace(message, "hello", "h\xffllo", 1):          "1:1 unreadable :2 L303",
		strings.ReplaceAll(head+message, "\n", "\r\n"):                   "1:1 ",
		"\ufeff" + head + "\n\n" + message:                               "1:1 ",
		"torn\n" + head + message:                                        "1:1 unreadable :1 L306",
		head + message + head + message + message:                        "2:3 ",
		head + strings.Repeat("[", 600) + "\n" + message:                 "1:1 unreadable :2 L306",
		strings.Replace(head, `"version":1`, `"version":2`, 1) + message: "0:0 unreadable :1 L331 head has an unsupported version; canonical: in.jsonl:1: head has an unsupported version",
		`{"type":"session","version":1,"id":"a"}` + "\n" + head:          "1:0 unreadable :1 L331 head without an id or an agent; canonical: in.jsonl:1: head without an id or an agent",
		message + head: "0:0 canonical: in.jsonl: not a canonical file: its first line is not the head of a session",
		"":             "0:0 canonical: in.jsonl: no sessions found",
	} {
		books := &session.SharedAccount{}
		path := filepath.Join(t.TempDir(), "in.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, notes := read(t, path, session.Selection{Account: books})
		messages := 0
		for _, h := range got {
			messages += len(h.messages)
		}
		says := strings.ReplaceAll(strings.Join(notes, "; "), filepath.Dir(path)+string(filepath.Separator), "")
		if is := string(rune('0'+len(got))) + ":" + string(rune('0'+messages)) + " " + says; is != want {
			t.Errorf("%.120q\n got %s\nwant %s", text, is, want)
		}
		if sum := books.Total(); !sum.Balanced() {
			t.Errorf("%.120q: %+v", text, sum)
		}
	}
}

// TestMisplacedIsSaid: a message behind the files is said even to somebody who
// does not read the files.
func TestMisplacedIsSaid(t *testing.T) {
	file := `{"type":"file","path":"p"}` + "\n"
	late := `{"type":"message","id":"late","role":"user"}` + "\n"
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(plainHead+"\n"+plainMessage+"\n"+file+late+file+plainHead+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, stop := range []int{0, 1, 2} { // messages that are read before the reader has enough
		books := &session.SharedAccount{}
		var notes []string
		n := 0
		view := formats.View{OnLoss: func(l loss.Loss) {
			notes = append(notes, fmt.Sprint(l.At, " ", strings.Join(append([]string{string(l.Code)}, l.Args...), " ")))
		}}
		for s, err := range decode(t.Context(), l, view, session.Selection{Account: books}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			left := stop
			for range s.Messages {
				if left--; left == 0 {
					break
				}
			}
		}
		want := []string{":4 L330"}
		if stop == 1 {
			want = nil
		}
		if n != 2 || !slices.Equal(notes, want) {
			t.Errorf("%d: %d sessions, %q", stop, n, notes)
		}
		if sum := books.Total(); !sum.Balanced() {
			t.Errorf("%+v", sum)
		}
	}
}

// TestHeadsOfEditedText: what is listed is what is decoded, whatever somebody
// made of the lines.
func TestHeadsOfEditedText(t *testing.T) {
	last := `{"id":"b","agent":"x","title":"T","version":1,"type":"session"}` + "\n"
	head, message := plainHead+"\n", plainMessage+"\n"
	for text, want := range map[string]string{
		head + message + last + message: "a b",
		last + message + head:           "b a",
		head + " " + last:               "a b",
		head + message + head + message: "a a",
		head + `{"id":"c","agent":"x","version":1,"type":"session","type":"message"}` + "\n": "a c",
		head + `{"type":"message","type":"session","id":"c"}` + "\n":                         "a",
		head + `{"extras":[{"type":"session"}],"type":"message"}` + "\n":                     "a",
		head + strings.TrimSuffix(last, "}\n") + "\n" + message:                              "a",
		head + strings.Replace(last, `"version":1`, `"version":9`, 1):                        "a b",
		message + last:  "",
		"torn\n" + last: "b",
		strings.ReplaceAll("\ufeff"+head+"\n"+message+last, "\n", "\r\n"): "a b",
	} {
		path := filepath.Join(t.TempDir(), "in.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		var listed, decoded []string
		bytes := int64(0)
		for h, err := range heads(t.Context(), l, formats.View{}) {
			if h != nil {
				listed, bytes = append(listed, h.ID), bytes+h.Bytes
			}
			if err != nil {
				listed = append(listed, err.Error())
			}
		}
		for s, err := range decode(t.Context(), l, formats.View{}, session.Selection{}) {
			if s != nil && s.ID != "" {
				decoded = append(decoded, s.ID)
			}
			if err != nil {
				decoded = append(decoded, err.Error())
			}
		}
		if !slices.Equal(listed, decoded) {
			t.Errorf("%.90q\nlisted  %q\ndecoded %q", text, listed, decoded)
		}
		ids := slices.DeleteFunc(listed, func(s string) bool { return len(s) > 1 })
		if strings.Join(ids, " ") != want || want != "" && bytes > int64(len(text))+1 {
			t.Errorf("%.90q: %q with %d bytes, want %s", text, ids, bytes, want)
		}
	}
}

// TestCutAnywhere: a file that breaks off anywhere is read up to there.
func TestCutAnywhere(t *testing.T) {
	whole := plainHead + "\n" + plainMessage + "\n" + `{"type":"file","path":"p","after":{"text":"x"}}` + "\n"
	for at := range whole {
		got, notes := readText(t, whole[:at])
		if lines := strings.Count(whole[:at], "\n"); lines > 0 && (len(got) != 1 || len(got[0].spell()) < lines || len(notes) > 1) {
			t.Errorf("cut at %d: %d sessions, notes %q", at, len(got), notes)
		}
	}
}

func TestLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(plainHead + "\n" + `{"type":"message","id":"big","role":"user","parts":[{"type":"text","text":"`)
	block := strings.Repeat("x", 1<<20)
	for range 129 {
		f.WriteString(block)
	}
	f.WriteString(`"}]}` + "\n" + plainMessage + "\n")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got, notes := read(t, path, session.Selection{})
	if len(got) != 1 || len(got[0].messages) != 1 || !slices.Equal(notes, []string{"unreadable :2 L304 128 MB"}) {
		t.Errorf("%d sessions, %q", len(got), notes)
	}
	big := &held{messages: []*session.Message{{ID: "m", Role: session.User, Parts: []session.Part{&session.Text{Text: strings.Repeat(block, 129)}}}}}
	_, err = sink{}.Put(t.Context(), big.stream(), formats.SessionBuild{Path: filepath.Join(t.TempDir(), "out.jsonl")})
	if err == nil || !strings.Contains(err.Error(), "line 2: line longer than 128 MB") {
		t.Error(err)
	}
}

// TestHeadsOutliveTheirLines: what a session holds is good until the next one,
// whatever its messages overwrite.
func TestHeadsOutliveTheirLines(t *testing.T) {
	h := &held{session: session.Session{Head: session.Head{ID: "a", Agent: "x", Turns: -1, Bytes: -1}, Extras: []session.Extra{{Name: "n", Raw: session.Raw(`"kept"`)}}}}
	for range 3000 {
		h.messages = append(h.messages, &session.Message{ID: "m", Role: session.User, Parts: []session.Part{&session.Text{Text: strings.Repeat("y", 300)}}})
	}
	got, _ := read(t, write(t, t.TempDir(), h), session.Selection{})
	same(t, h, got[0])
}

// TestHalfWalked: sessions that are not walked, or not to their end, do not
// disturb the next one.
func TestHalfWalked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	one := plainHead + "\n" + strings.Repeat(plainMessage+"\n", 3) + `{"type":"file","path":"p"}` + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(one, 3)), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for steps := range 6 {
		n := 0
		for s, err := range decode(t.Context(), l, formats.View{}, session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			left := steps
			for range s.Messages {
				if left--; left <= 0 {
					break
				}
			}
			if steps > 4 {
				for range s.Files {
					break
				}
			}
		}
		if n != 3 {
			t.Errorf("%d sessions after %d steps in each", n, steps)
		}
	}
	for range decode(t.Context(), l, formats.View{}, session.Selection{}) {
		break
	}
}

func TestSelection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	text := ""
	for _, id := range []string{"a", "b", "c"} {
		text += strings.Replace(plainHead, `"a"`, `"`+id+`"`, 1) + "\n" + plainMessage + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	books := &session.SharedAccount{}
	got, notes := read(t, path, session.Selection{IDs: []string{"c", "b"}, Account: books})
	if len(got) != 2 || got[0].session.ID != "b" || got[1].session.ID != "c" || len(notes) > 0 {
		t.Error(len(got), notes)
	}
	if sum := books.Total(); sum.Read != 4 || !sum.Balanced() {
		t.Errorf("%+v", sum)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(plainHead+"\n"+strings.Repeat(plainMessage+"\n", 20000)), 0o666); err != nil {
		t.Fatal(err)
	}
	l, _ := formats.Locate(path)
	var last error
	for s, err := range decode(ctx, l, formats.View{}, session.Selection{}) {
		if last = err; err != nil {
			continue
		}
		for _, err := range s.Messages {
			cancel()
			last = err
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Error(last)
	}
}

// TestFolder: families together, whatever their files are called, and
// nothing outside of the folder.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, "out", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	head := func(agent, id, parent string) string {
		s := session.Session{Head: session.Head{ID: id, Agent: agent}}
		if parent != "" {
			s.Parent = &session.Link{Session: parent}
		}
		return string(session.AppendHead(nil, &s)) + "\n"
	}
	put("x/a.jsonl", head("x", "a", "b"))
	put("x/b.jsonl", head("x", "b", "d"))
	put("x/c.jsonl", head("x", "c", "c"))
	put("x/d.jsonl", head("x", "d", "")+plainMessage+"\n")
	put("y/d.jsonl", head("y", "d", "e")+plainMessage+"\n")
	put("y/e.jsonl", head("y", "e", "d"))
	put(".gitattributes", "* -text\n")
	put("x/.DS_Store", "")
	root := filepath.Join(dir, "out")
	order := func() (out []string) {
		got, notes := read(t, root, session.Selection{})
		for _, h := range got {
			out = append(out, h.session.Agent+h.session.ID)
		}
		return append(out, notes...)
	}
	want := []string{"xc", "xd", "xb", "xa", "yd", "ye"}
	if got := order(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	l, err := formats.Locate(root)
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	sizes := map[string]int64{}
	for h, err := range heads(t.Context(), l, formats.View{}) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, h.Agent+h.ID)
		sizes[h.Agent+h.ID] = h.Bytes
	}
	if !slices.Equal(listed, want) || sizes["xd"] != int64(len(head("x", "d", "")+plainMessage)+1) {
		t.Errorf("%q %v", listed, sizes)
	}
	if m, err := probe(t.Context(), l); err != nil || m.Score != 100 {
		t.Error(m, err)
	}

	put("x/notes.txt", "words")
	if err := os.Symlink(filepath.Join(dir, "outside.jsonl"), filepath.Join(root, "x", "z.jsonl")); err == nil {
		if err := os.WriteFile(filepath.Join(dir, "outside.jsonl"), []byte(head("z", "z", "")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := order()
	if !slices.Equal(got[:6], want) || !slices.Contains(got, "dropped x/notes.txt L320") || slices.Contains(got, "zz") {
		t.Errorf("%q", got)
	}
	l, _ = formats.Locate(root)
	if m, _ := probe(t.Context(), l); m.Score != 0 {
		t.Error("a folder with other files was claimed as a whole")
	}
}

// TestProbeSpellings: heads as other programs spell them, complete or cut where
// the look ends.
func TestProbeSpellings(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type": "session", "version": 1, "id": "a", "agent": "x"}`:                                       true,
		"{ \"type\" :\t\"session\" , \"agent\": \"x\", \"id\": \"a\", \"version\" : 1 }\n{}":               true,
		`{"type":"session","agent":"x","version":1,"id":"a","title":"` + strings.Repeat("y", 900) + `"}`:   true,
		`{"type":"session","id":"a","version":1,"cwd":"/w"}`:                                               false,
		`{"type":"session","agent":"x","id":"a"}`:                                                          false,
		`{"type":"session","agent":5,"version":1}`:                                                         false,
		`{"type":"session","agent":"x","version":"1"}`:                                                     false,
		`{"version":1,"agent":"x","id":"a","type":"session"}`:                                              true,
		`{"version":1,"type":"session","agent":"x"}`:                                                       false,
		`{"title":"` + strings.Repeat("y", 90000) + `","agent":"x","version":1,"id":"a","type":"session"}`: true,
		`{"type":"session","version":3,"id":"a","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`:        false,
		`{"type": "sessions", "version": 1, "agent": "x"}`:                                                 false,
		"{\"type\": \"session\",\n\"version\": 1, \"agent\": \"x\"}":                                       false,
		`["type","session"]`: false,
		`{"type": "session`:  false,
		`{"type":"session","id":"a","version":,"agent":}`: false,
		`{"type"`: false,
	} {
		path := filepath.Join(t.TempDir(), "in.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := probe(t.Context(), l); err != nil || (m.Score == 100) != want {
			t.Errorf("%.70s: %+v, %v", text, m, err)
		}
		n := 0
		for h, err := range heads(t.Context(), l, formats.View{}) {
			if n++; want && (err != nil || h.ID != "a") || !want && err == nil {
				t.Errorf("%.70s: %+v, %v", text, h, err)
			}
		}
		if want && n != 1 {
			t.Errorf("%.70s: %d heads", text, n)
		}
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.jsonl": plainHead + "\n", "newer.jsonl": `{"type":"session","version":27,"id":"a","agent":"x"}`, "other.jsonl": `{"type":"system","subtype":"init"}`, "empty.jsonl": "", "half.jsonl": `{"type":"session","version":`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := probe(t.Context(), l)
		if want := name == "good.jsonl" || name == "newer.jsonl"; err != nil || (m.Score == 100) != want || (m.Score == 0) == want {
			t.Errorf("%s: %+v %v", name, m, err)
		}
	}
	for _, folder := range []string{dir, t.TempDir()} {
		l, _ := formats.Locate(folder)
		if m, _ := probe(t.Context(), l); m.Score != 0 {
			t.Errorf("%s: %+v", folder, m)
		}
	}
}

func TestNamed(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"0a1b2c3d-0000-4000-8000-000000000001", "agent-7e855a8f-feb9-4628-8e9d-78780973ae9a", "a", "A", "..", ".", "", "/", "a/b", "a\\b", "a:b", "con", "CON", "nul", "com1", "ünï", "-rf", "a.jsonl", strings.Repeat("x", 64),
		strings.Repeat("x", 65), strings.Repeat("x", 66), "a\x00b", "\xff", "a b", "a  b", "git~1", ".git", "🙂"} {
		got := named(&session.Head{ID: id, Agent: "cursor-cli"})
		low := strings.ToLower(got)
		base, ok := strings.CutPrefix(strings.TrimSuffix(got, ".jsonl"), "cursor-cli/")
		if !ok || seen[low] != "" || base == "" || len(got) > 100 || strings.Trim(base, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || base[0] == '-' || filename.Device(base) {
			t.Errorf("%q: %q (also of %q)", id, got, seen[low])
		}
		seen[low] = id + " "
		if again := named(&session.Head{ID: id, Agent: "cursor-cli"}); again != got {
			t.Errorf("%q: %q, then %q", id, got, again)
		}
	}
	if got := named(&session.Head{ID: "agent-1", Agent: "../x"}); strings.Contains(got, "..") || strings.Count(got, "/") != 1 {
		t.Error(got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(plainHead + "\n" + plainMessage + "\n"))
	files, _ := filepath.Glob(filepath.Join("..", "..", "schemas", "testdata", "canonical-1", "*.json"))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(plainHead + "\n" + string(b)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "in.jsonl")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		books := &session.SharedAccount{}
		got, _ := read(t, path, session.Selection{Account: books})
		if sum := books.Total(); !sum.Balanced() {
			t.Errorf("%+v", sum)
		}
		if len(got) == 0 {
			return
		}
		again, notes := read(t, write(t, t.TempDir(), got...), session.Selection{})
		if len(again) != len(got) || len(notes) > 0 {
			t.Fatalf("%d sessions, then %d: %q", len(got), len(again), notes)
		}
		for i := range got {
			if !slices.Equal(got[i].spell(), again[i].spell()) {
				t.Errorf("%q\n%q", got[i].spell(), again[i].spell())
			}
		}
	})
}
