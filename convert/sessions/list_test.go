package sessions

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/formats/store"
)

// voice is a format of one file: its name on the first line, then a session
// a line, "id title folder updated turns parent", with - for nothing. A line
// "!" is an error among the others.
func voice(name, agent, home string) *formats.Format {
	f := &formats.Format{
		Name:  name,
		Title: name,
		Probe: func(_ context.Context, l *formats.Location) (formats.Match, error) {
			if bytes.HasPrefix(l.Head(), []byte(name+"\n")) {
				return formats.Match{Score: 90, Evidence: []string{"it says so"}}, nil
			}
			return formats.Match{}, nil
		},
		Sessions: &formats.Sessions{
			Decode: func(context.Context, *formats.Location, formats.View, session.Selection) iter.Seq2[*session.Session, error] {
				return func(func(*session.Session, error) bool) {}
			},
			Heads: func(_ context.Context, l *formats.Location, _ formats.View) iter.Seq2[*session.Head, error] {
				return func(yield func(*session.Head, error) bool) {
					b, err := os.ReadFile(l.Path)
					if err != nil {
						yield(nil, err)
						return
					}
					for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
						if line == "!" {
							if !yield(nil, &formats.Error{Format: name, At: l.Path, Err: errors.New("a bad session"), Hint: "do something"}) {
								return
							}
							continue
						}
						if !yield(voiced(agent, strings.Fields(line)), nil) {
							return
						}
					}
				}
			},
		},
	}
	if home != "" {
		f.Home = &formats.Home{
			Roots:  func(m formats.Machine) []string { return []string{filepath.Join(m.Home, home)} },
			Hash:   hashOf,
			IsHash: func(name string) bool { return len(name) == 2*md5.Size },

			SideFiles: []string{"-wal", ".json"},
		}
	}
	return f
}

func voiced(agent string, w []string) *session.Head {
	for i := range w {
		if w[i] == "-" {
			w[i] = ""
		}
	}
	h := &session.Head{Agent: agent, ID: w[0], Title: strings.ReplaceAll(w[1], "_", " "), Workspace: w[2], Turns: -1, Bytes: -1}
	if ms, err := strconv.ParseInt(w[3], 10, 64); err == nil {
		h.Updated = session.Stored(ms)
	}
	if n, err := strconv.ParseInt(w[4], 10, 64); err == nil {
		h.Turns = n
	}
	if w[5] != "" {
		h.Parent = &session.Link{Session: w[5]}
	}
	return h
}

// laid writes files below a new folder.
func laid(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func voices() *formats.Registry {
	mute := voice("mute", "", "mute")
	mute.Sessions = nil
	alien := voice("alien", "", "")
	alien.Sessions = nil
	return formats.NewRegistry(voice("loud", "cursor-sdk", "loud"), voice("soft", "cursor-cli", "soft"), voice("other", "claude-code", ""), mute, alien)
}

// inWords is a listing in words.
func inWords(list []Listed, dir string) string {
	var out []string
	for _, s := range list {
		var from, sub []string
		for _, src := range s.Sources {
			rel, _ := filepath.Rel(dir, src.Path)
			from = append(from, filepath.ToSlash(rel))
		}
		for _, c := range s.Children {
			sub = append(sub, c.ID)
		}
		text := fmt.Sprintf("%s(%s)", s.ID, strings.Join(from, " "))
		if sub != nil {
			text += "[" + strings.Join(sub, " ") + "]"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func listing(t *testing.T, dir string, o Options) *Listing {
	t.Helper()
	if o.Paths == nil {
		o.Machine = formats.Machine{OS: "linux", Home: dir, Getenv: func(string) string { return "" }}
	}
	l, err := List(t.Context(), voices(), o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestListMerges: what several stores of one family hold is one session, what
// works in two folders is two, and another maker's ids are its own.
func TestListMerges(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"newest first":     {map[string]string{"a": "loud\na - - 1 - -\nb - - 3 - -\nc - - 2 - -"}, "b(a); c(a); a(a)"},
		"two stores":       {map[string]string{"a": "soft\nx - /w 1 - -", "b": "loud\nx t /w 2 - -"}, "x(b a)"},
		"one is not told":  {map[string]string{"a": "soft\nx - - 1 - -", "b": "loud\nx t /w 2 - -"}, "x(b a)"},
		"other folder":     {map[string]string{"a": "soft\nx - /v 1 - -", "b": "loud\nx t /w 2 - -"}, "x(b); x(a)"},
		"nearest":          {map[string]string{"p/a": "loud\nx - /p 1 - -", "q/a": "loud\nx - /q 2 - -", "q/b": "soft\nx - - - - -"}, "x(q/a q/b); x(p/a)"},
		"other maker":      {map[string]string{"a": "soft\nx - - 1 - -", "b": "other\nx - - 2 - -"}, "x(b); x(a)"},
		"subagents":        {map[string]string{"a": "soft\np - - 9 - -\nk - - 5 - p\nm - - 7 - p\nn - - 8 - k"}, "p(a)[m k]"},
		"orphan":           {map[string]string{"a": "soft\nk - - 5 - p"}, "k(a)"},
		"own parent":       {map[string]string{"a": "soft\nk - - 5 - k"}, "k(a)"},
		"circle":           {map[string]string{"a": "soft\nk - - 5 - l\nl - - 6 - k\nm - - 7 - l"}, "m(a); l(a); k(a)"},
		"same moment":      {map[string]string{"a": "soft\nc - - 5 - -\nb - - 5 - -", "b": "other\na - - 5 - -"}, "a(b); b(a); c(a)"},
		"nothing":          {map[string]string{"a": "soft\n"}, ""},
		"below any folder": {map[string]string{"x/.y/z/a": "soft\nx - - 5 - -", "node_modules/a": "soft\ny - - 5 - -"}, "x(x/.y/z/a)"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := laid(t, c.files)
			for _, jobs := range []int{1, 4} {
				l := listing(t, dir, Options{Paths: []string{dir}, Jobs: jobs})
				if got := inWords(l.Sessions, dir); got != c.want {
					t.Errorf("%d workers: got %s, want %s", jobs, got, c.want)
				}
				if len(l.Unread)+len(l.Foreign) > 0 {
					t.Errorf("unread %v, foreign %v", l.Unread, l.Foreign)
				}
			}
		})
	}
}

// TestListOfHome: in clients' places nothing is dropped.
func TestListOfHome(t *testing.T) {
	dir := laid(t, map[string]string{
		"loud/a": "loud\nx - - 1 - -\n!\ny - - 2 - -", "loud/notes.txt": "mine", "loud/a-wal": "log", "loud/.DS_Store": "x",
		"mute/m": "mute\n", "loud/sub/alien": "alien\n", "elsewhere/a": "loud\nz - - 3 - -",
	})
	links := 0
	for from, to := range map[string]string{"loud/circle": "..", "loud/dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(from))); err == nil {
			links++ // not every system lets everybody make one
		}
	}
	want := []string{"a loud: loud: /loud/a: a bad session", "m mute: sessions in this format cannot be read yet"}
	if os.Symlink("../elsewhere", filepath.Join(dir, "loud", "out")) == nil { // somebody keeps the sessions on another disk
		want = slices.Insert(want, 1, "out : links to folders are not followed")
	}
	l := listing(t, dir, Options{})
	if got := inWords(l.Sessions, dir); got != "y(loud/a); x(loud/a)" {
		t.Errorf("sessions %s", got)
	}
	var unread []string
	for _, u := range l.Unread {
		unread = append(unread, fmt.Sprintf("%s %s: %s", filepath.Base(u.Path), u.Format, strings.ReplaceAll(u.Err.Error(), dir, "")))
	}
	if !slices.Equal(unread, want) {
		t.Errorf("unread %q", unread)
	}
	var foreign []string
	for _, u := range l.Foreign {
		if strings.Contains(u.Err.Error(), "link") {
			links--
			continue
		}
		foreign = append(foreign, filepath.Base(u.Path)+": "+u.Err.Error())
	}
	if !slices.Equal(foreign, []string{"notes.txt: no known format", "alien: a database of another program"}) {
		t.Errorf("foreign %q", foreign)
	}
	if links != 0 {
		t.Errorf("%d links are not told", links)
	}
	if len(l.Places) != 2 || len(l.Absent) != 1 || filepath.Base(l.Absent[0]) != "soft" {
		t.Errorf("places %q, absent %q", l.Places, l.Absent)
	}
}

// TestListPaths: a path that was named must be there and be something; two that
// hold one another are walked once.
func TestListPaths(t *testing.T) {
	dir := laid(t, map[string]string{"in/a": "loud\nx - - 1 - -", "in/b": "loud\ny - - 1 - -", "text": "nothing"})
	in := filepath.Join(dir, "in")
	for _, paths := range [][]string{{dir, in}, {in, dir}, {in, filepath.Join(in, "a")}, {filepath.Join(in, "a"), in}} {
		l := listing(t, dir, Options{Paths: paths})
		if got := inWords(l.Sessions, dir); got != "x(in/a); y(in/b)" {
			t.Errorf("%q: %s", paths, got)
		}
	}
	for _, path := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "text")} {
		if _, err := List(t.Context(), voices(), Options{Paths: []string{path, in}}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ctx, voices(), Options{Paths: []string{dir}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestListByClock: a session without a time of its own has that of the file
// that bears its name, and a store of one session is that session's.
func TestListByClock(t *testing.T) {
	dir := laid(t, map[string]string{"one": "loud\nx - - - - -", "two": "loud\na - - - - -\nb - - 5 - -"})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "one"), at, at); err != nil {
		t.Fatal(err)
	}
	got := map[string]session.Stamp{}
	for _, s := range listing(t, dir, Options{Paths: []string{dir}}).Sessions {
		got[s.ID] = s.Updated
	}
	if got["x"] != session.Inferred(at.UnixMilli()) || got["a"].Known() || got["b"] != session.Stored(5) {
		t.Errorf("%v", got)
	}
}

// TestListFolders: a hash above the store is the folder that has it.
func TestListFolders(t *testing.T) {
	nobody := strings.Repeat("0a", 16)
	dir := laid(t, map[string]string{
		hashOf("/w/app") + "/s1/a": "loud\nx - - 4 - -", hashOf("/w/app") + "/s2/a": "loud\ny - /w/app 3 - -",
		hashOf("/w/lib") + "/s3/a": "loud\nz - - 2 - -", nobody + "/s4/a": "loud\nu - - 1 - -",
	})
	var got []string
	for _, s := range listing(t, dir, Options{Paths: []string{dir}, Folders: Candidates{Dirs: []string{"/w/lib"}}}).Sessions {
		got = append(got, s.ID+s.Workspace)
	}
	if !slices.Equal(got, []string{"x/w/app", "y/w/app", "z/w/lib", "u"}) {
		t.Errorf("%q", got)
	}
}

func TestSelect(t *testing.T) {
	dir := laid(t, map[string]string{
		"a": "loud\na - /w/app 9 1 -\nb - /w/app/sub 8 1 -\nc - /w/apple 7 1 -\nd - - 6 1 -\ne - /w/app 5 0 -\nf - /w/app 4 - e",
		"b": "soft\ng - /w/app 3 2 -\nh - /w/app/. 2 0 -",
		"c": "other\ni - /w/app 1 1 -",
	})
	l := listing(t, dir, Options{Paths: []string{dir}})
	for _, c := range []struct {
		f      Filter
		want   string
		hidden Hidden
	}{
		{Filter{}, "a b c d e g i", Hidden{Empty: 1}},
		{Filter{Empty: true}, "a b c d e g h i", Hidden{}},
		{Filter{Limit: 2}, "a b", Hidden{Empty: 1, Older: 5}},
		{Filter{Project: "/w/app"}, "a b e g i", Hidden{Empty: 1, Other: 2}},
		{Filter{Project: "/w/app/sub/"}, "b", Hidden{Empty: 1, Other: 6}},
		{Filter{Agent: "cursor"}, "a b c d e g", Hidden{Empty: 1, Other: 1}},
		{Filter{Agent: "cursor-cli"}, "g", Hidden{Empty: 1, Other: 6}},
		{Filter{Since: 7}, "a b c", Hidden{Empty: 1, Other: 4}},
		{Filter{Since: 100}, "", Hidden{Empty: 1, Other: 7}},
	} {
		got, hidden := l.Select(c.f)
		var ids []string
		for _, s := range got {
			ids = append(ids, s.ID)
		}
		if strings.Join(ids, " ") != c.want || hidden != c.hidden {
			t.Errorf("%+v: %q %+v, want %q %+v", c.f, ids, hidden, c.want, c.hidden)
		}
	}
}

func TestNamed(t *testing.T) {
	const one, two = "01234567-89ab-4def-8123-456789abcdef", "agent-01239999-89ab-4def-8123-456789abcdef"
	dir := laid(t, map[string]string{"a": "loud\n" + one + " Fix_the_flaky_test - 9 1 -\n" + two + " fix_it - 8 1 -\nmain Say_hello - 7 1 " + one + "\n0123 odd - 6 1 -"})
	l := listing(t, dir, Options{Paths: []string{dir}})
	for name, want := range map[string]string{
		one: one, "main": "main", "0123": "0123", "01234": one, "01239": two, "agent-0123": two, "AGENT-0123": two,
		"012": "", "fix": one + " " + two, "flaky fix": one, "hello": "main", "nothing": "", "": "", "mai": "",
	} {
		var got []string
		for _, s := range l.Find(name) {
			got = append(got, s.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for id, want := range map[string]string{one: one[:8], two: two[6:14], "main": "main"} {
		if got := l.ShortID(id); got != want {
			t.Errorf("short %s: %s, want %s", id, got, want)
		}
	}
	twins := laid(t, map[string]string{"a": "loud\n" + one + " - - 9 1 -\n" + one[:35] + "0 - - 9 1 -\n" + one[:9] + "99ab-4def-8123-456789abcdef - - 9 1 -"})
	l = listing(t, twins, Options{Paths: []string{twins}})
	for id, want := range map[string]string{one: one, one[:9] + "99ab-4def-8123-456789abcdef": one[:9] + "99ab-4d"} {
		if got := l.ShortID(id); got != want {
			t.Errorf("among twins %s: %s, want %s", id, got, want)
		}
	}
}

// TestSimilar: a mistyped id or title is answered with what it may mean.
func TestSimilar(t *testing.T) {
	const one, two = "01234567-89ab-4def-8123-456789abcdef", "agent-0a239999-89ab-4def-8123-456789abcdef"
	dir := laid(t, map[string]string{"a": "loud\n" + one + " Fix_the_flaky_test - 9 1 -\n" + two + " Speed_up_the_login - 8 1 -\nmain - - 7 1 -"})
	l := listing(t, dir, Options{Paths: []string{dir}})
	for name, want := range map[string]string{
		"01235567": one, "0123456a-89ab": one, "0A238999": two, "agent-0a23999": two, "flakey": one, "logn sped": two, "t" + "eh": one + " " + two,
		"": "", "ffff": "", "agents": "", "agent": "", "nothing": "", "flakey login": "", "x y": "", strings.Repeat("flakey ", 100): "",
	} {
		var got []string
		for _, s := range l.Similar(name) {
			got = append(got, s.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestWhen: the times in a session count before those of its file, which copying
// changes.
func TestWhen(t *testing.T) {
	for want, s := range map[int64]session.Head{
		1: {Created: session.Stored(1), Updated: session.Inferred(9)},
		2: {Created: session.Stored(1), Updated: session.Stored(2)},
		3: {Updated: session.Inferred(3)},
		4: {Created: session.Stored(4)},
		5: {Created: session.Inferred(4), Updated: session.Inferred(5)},
		0: {},
	} {
		if got := (&Listed{Head: s}).When().Millis(); got != want {
			t.Errorf("%+v: %d, want %d", s, got, want)
		}
	}
}

// TestOrigins: the sessions whose ids a format derives from those of others are
// copies of them.
func TestOrigins(t *testing.T) {
	other := voice("other", "claude-code", "")
	other.Writer = &formats.Writer{ID: func(h *session.Head) string { return "copy-" + h.ID }}
	reg := formats.NewRegistry(voice("loud", "cursor-sdk", ""), other)
	dir := laid(t, map[string]string{
		"a": "loud\nx X - 9 1 -\ny Y - 8 1 -\nz Z - 7 1 -", "b": "other\ncopy-x X - 6 1 -\ncopy-x#2 X - 5 1 -\ncopy-x#3 X - 4 1 -\ncopy-z#2 Z - 3 1 -\ny Y - 3 1 -\ncopy-y#3 Y - 2 1 -",
	})
	l, err := List(t.Context(), reg, Options{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range l.All() {
		if s.Origin != "" {
			got = append(got, s.ID+" of "+s.Origin)
		}
	}
	for i, s := range l.Sessions {
		if i > 0 && when(&s) == 3 && s.Origin == "" && l.Sessions[i-1].Origin != "" && when(&l.Sessions[i-1]) == 3 {
			t.Error("a copy comes before an original of the same time")
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"copy-x of x", "copy-x#2 of x", "copy-x#3 of x", "copy-z#2 of z"}) {
		t.Errorf("%q", got)
	}
}

// TestOriginsImported: a session that a client imported is a copy, too. It is in the client's own
// store, and not in the file that it was written to.
func TestOriginsImported(t *testing.T) {
	file, own := voice("file", "other", ""), voice("db", "other", "")
	file.Clients, own.Clients = []string{"other"}, []string{"other"}
	file.Writer = &formats.Writer{ID: func(h *session.Head) string { return "copy-" + h.ID }}
	dir := laid(t, map[string]string{"a": "loud\nx X - 9 1 -\ny Y - 8 1 -", "b": "db\ncopy-x X - 6 1 -\nz Z - 5 1 -"})
	for _, imports := range []bool{true, false} {
		file.Home = &formats.Home{Roots: func(formats.Machine) []string { return nil }}
		if imports {
			file.Home.Import = &formats.Import{}
		}
		reg := formats.NewRegistry(voice("loud", "cursor-sdk", ""), own, file)
		l, err := List(t.Context(), reg, Options{Paths: []string{dir}, Copies: map[Copy]string{{"file", "z"}: "y"}})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, s := range l.All() {
			got[s.ID] = s.Origin
		}
		if want := map[bool]string{true: "x"}[imports]; got["copy-x"] != want || (got["z"] == "y") != imports || got["x"]+got["y"] != "" {
			t.Errorf("imports %v: %q", imports, got)
		}
	}
}

func hashOf(dir string) string {
	sum := md5.Sum([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// TestListLong: what is read of a session counts for more than what its head
// says, whatever it was read for.
func TestListLong(t *testing.T) {
	f := voice("talk", "talk", "")
	f.Sessions.Decode = func(context.Context, *formats.Location, formats.View, session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			s := &session.Session{Head: session.Head{ID: "a", Agent: "talk", Turns: -1, Bytes: -1}}
			s.Messages = func(yield func(*session.Message, error) bool) {
				for n := range 2 {
					if !yield(&session.Message{ID: fmt.Sprint(n), Role: session.User, Turn: &session.Turn{Number: n + 1}}, nil) {
						return
					}
				}
			}
			yield(s, nil)
		}
	}
	path := filepath.Join(laid(t, map[string]string{"talk.txt": "talk\na First - - 9 -\nb Second - - - -\n"}), "talk.txt")
	for long, want := range map[bool]int64{false: 9, true: 2} {
		l, err := List(t.Context(), formats.NewRegistry(f), Options{Paths: []string{path}, Long: long})
		if err != nil {
			t.Fatal(err)
		}
		a := l.Find("a")
		if len(a) != 1 || a[0].Turns != want || (a[0].Bytes >= 0) != long {
			t.Errorf("long %v: %+v", long, l.Sessions)
		}
	}
}

// TestMeasure: the turns of small sessions are counted, and their first prompts
// found; of others, nothing changes.
func TestMeasure(t *testing.T) {
	dir := laid(t, map[string]string{"a": "loud\nx X - 9 - -\ny - - 8 - -\nz Z - 7 4 -\nbig - - 6 - -"})
	reg := voices()
	decoded := ""
	reg.Lookup("loud").Sessions.Decode = func(_ context.Context, _ *formats.Location, _ formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			for _, id := range sel.IDs {
				decoded += id
				s := &session.Session{Head: session.Head{ID: id, Turns: -1, Bytes: -1}}
				s.Messages = func(yield func(*session.Message, error) bool) {
					for n, text := range []string{"", "first", "second"} {
						if !yield(&session.Message{Role: session.User, Parts: []session.Part{&session.Text{Text: " "}, &session.Text{Text: text}}, Turn: &session.Turn{Number: n + 1}}, nil) {
							return
						}
					}
				}
				if !yield(s, errors.New("and something is wrong")) {
					return
				}
			}
		}
	}
	l, err := List(t.Context(), reg, Options{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	list := l.All()
	list[3].Bytes = maxMeasured + 1
	Measure(t.Context(), list, Options{Jobs: 1})
	var got []string
	for _, s := range list {
		got = append(got, fmt.Sprintf("%s %d %s", s.ID, s.Turns, s.Prompt))
	}
	if want := []string{"x 3 first", "y 3 first", "z 4 ", "big -1 "}; !slices.Equal(got, want) || decoded != "xy" || len(l.Unread) > 0 {
		t.Errorf("%q, want %q; decoded %s", got, want, decoded)
	}
	if err := os.Truncate(filepath.Join(dir, "a"), maxMeasuredStore+1); err != nil {
		t.Fatal(err)
	}
	list[0].Turns, list[0].Bytes = -1, -1
	if Measure(t.Context(), list, Options{Jobs: 1}); list[0].Turns >= 0 {
		t.Errorf("a session of a large store was decoded: %+v", list[0])
	}
}

// TestListCanceled: nothing is listed once the context is canceled.
func TestListCanceled(t *testing.T) {
	dir := laid(t, map[string]string{"a.x": "loud\na A - 1 1 -"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := List(ctx, voices(), Options{Paths: []string{dir}}); l != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", l, err)
	}
}

// TestOpenError: a store that can be opened although its format is not known is closed
// again.
func TestOpenError(t *testing.T) {
	r := &closing{}
	f := &formats.Format{Records: &formats.Records{Open: func(context.Context, *formats.Location, formats.View) (store.Reader, error) { return r, nil }}}
	l := &lister{ctx: t.Context()}
	if err := l.openError(storeToRead{format: f}); err == nil || r.closed != 1 {
		t.Errorf("%v, closed %d times", err, r.closed)
	}
}

// closing is a reader that counts how often it is closed.
type closing struct {
	store.Reader
	closed int
}

func (c *closing) Close() error { c.closed++; return nil }
