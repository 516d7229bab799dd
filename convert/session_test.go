package convert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/canonical"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// fates are the states of all sessions in order.
func fates(r *Report) string {
	var out []string
	for _, s := range r.Stores {
		for _, one := range s.Sessions {
			out = append(out, one.ID+" "+one.Status)
		}
	}
	return strings.Join(out, ", ")
}

// placed is everything below dst by slash path.
func placed(t *testing.T, dst string) map[string]string {
	t.Helper()
	out := map[string]string{}
	filepath.WalkDir(dst, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(dst, path)
		out[filepath.ToSlash(rel)] = string(b)
		return nil
	})
	return out
}

// nothingBut fails the test if a folder holds anything but these.
func nothingBut(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		t.Errorf("there are %q, want %q", got, names)
	}
}

const twoTalks = "session a First\nsay hello\nsay there\nsay again\nfile /x\nsession b Second\nsay hi\n"

func TestSessionsArePlaced(t *testing.T) {
	rep, dst, err := convertTalk(t, twoTalks, Options{})
	if err != nil || !rep.Placed || rep.Lane != "session" || fates(rep) != "a placed, b placed" {
		t.Fatal(fates(rep), err)
	}
	s := rep.Stores[0]
	if s.From != "talk" || s.To != "canonical" || s.Rows != 8 || s.Sessions[0].File != "talk/a.jsonl" || s.Sessions[0].Messages != 3 || s.Sessions[0].Turns != 2 || s.Sessions[0].Title != "First" {
		t.Errorf("%+v", s)
	}
	got := placed(t, dst)
	want := map[string]string{
		"talk/a.jsonl": `{"type":"session","version":1,"id":"a","agent":"talk","title":"First"}
{"type":"message","id":"m1","role":"user","turn":{"number":1},"parts":[{"type":"text","text":"hello"}]}
{"type":"message","id":"m2","role":"user","parts":[{"type":"text","text":"there"}]}
{"type":"message","id":"m3","role":"user","turn":{"number":2},"parts":[{"type":"text","text":"again"}]}
{"type":"file","path":"/x","after":{"text":""}}
`,
		"talk/b.jsonl": `{"type":"session","version":1,"id":"b","agent":"talk","title":"Second"}
{"type":"message","id":"m1","role":"user","turn":{"number":1},"parts":[{"type":"text","text":"hi"}]}
`,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if int64(len(want["talk/a.jsonl"])+len(want["talk/b.jsonl"])) != s.Bytes {
		t.Errorf("%d bytes are reported", s.Bytes)
	}
	nothingBut(t, filepath.Dir(dst), "out", "talk.txt")
	again := filepath.Join(filepath.Dir(dst), "again")
	back, err := Convert(t.Context(), talkers(nil), dst, again, Options{To: "canonical"})
	if err != nil || fates(back) != "a placed, b placed" || !maps.Equal(placed(t, again), want) {
		t.Errorf("canonical -> canonical: %s %v %q", fates(back), err, placed(t, again))
	}
}

func TestSessionsInOneFile(t *testing.T) {
	dir := t.TempDir()
	src := write(t, dir+"/in/talk.txt", "talk\n"+twoTalks)
	rep, err := Convert(t.Context(), talkers(nil), src, dir+"/out", Options{To: "canonical"})
	if err != nil {
		t.Fatal(err)
	}
	one, err := Convert(t.Context(), talkers(nil), src, dir+"/deep/all.jsonl", Options{To: "canonical"})
	if err != nil || !one.Placed || one.Stores[0].Sessions[0].File != "" {
		t.Fatalf("%v %+v", err, one)
	}
	folder := placed(t, dir+"/out")
	file, err := os.ReadFile(dir + "/deep/all.jsonl")
	if err != nil || string(file) != folder["talk/a.jsonl"]+folder["talk/b.jsonl"] {
		t.Errorf("%v %q", err, file)
	}
	// One file, taken apart again.
	_, err = Convert(t.Context(), talkers(nil), dir+"/deep/all.jsonl", dir+"/apart", Options{To: "canonical"})
	if err != nil || !maps.Equal(placed(t, dir+"/apart"), folder) {
		t.Errorf("%v %q", err, placed(t, dir+"/apart"))
	}
	if rep.Stores[0].Bytes != one.Stores[0].Bytes {
		t.Error("other sizes")
	}
}

// TestSessionsOfOneName: two stores know a session by one id; the order of the
// stores decides, whatever worker is first.
func TestSessionsOfOneName(t *testing.T) {
	dir := t.TempDir()
	for i, text := range []string{"session same One\nsay 1\n", "session same Two\nsay 2\n", "session SAME Three\nsay 3\n", "session same Four\nsay 4\nsession same-2 Five\n"} {
		write(t, fmt.Sprintf("%s/in/%d/talk.txt", dir, i), "talk\n"+text)
	}
	var first map[string]string
	for jobs := range 4 {
		dst := fmt.Sprint(dir, "/out", jobs)
		rep, err := Convert(t.Context(), talkers(nil), dir+"/in", dst, Options{To: "canonical", Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		got := placed(t, dst)
		if first == nil {
			first = got
			if len(got) != 5 || !strings.Contains(got["talk/same.jsonl"], "One") || !strings.Contains(got["talk/same-2.jsonl"], "Two") || !strings.Contains(got["talk/same-3.jsonl"], "Four") || !strings.Contains(got["talk/same-2-2.jsonl"], "Five") {
				t.Errorf("%q", got)
			}
			if s := rep.Stores[1].Sessions[0]; s.Note != "renamed: another session has the name talk/same.jsonl" || s.File != "talk/same-2.jsonl" {
				t.Errorf("%+v", s)
			}
		}
		if !maps.Equal(got, first) {
			t.Errorf("%d jobs: %q", jobs, got)
		}
	}
}

// TestLossesHoldOneSession: what is lost in one session does not hold the
// others.
func TestLossesHoldOneSession(t *testing.T) {
	const text = "session a\nsay hello\nsession b\nlose unreadable\nsay hi\nsession c\nsay x\nlose inferred\nfile /x\n"
	rep, dst, err := convertTalk(t, text, Options{})
	if err != nil || !rep.Placed || fates(rep) != "a placed, b skipped, c placed" {
		t.Fatal(fates(rep), err)
	}
	if got := slices.Sorted(maps.Keys(placed(t, dst))); !slices.Equal(got, []string{"talk/a.jsonl", "talk/c.jsonl"}) {
		t.Errorf("%q", got)
	}
	if s := rep.Stores[0]; s.Status != Placed || len(s.Losses) != 2 || len(s.Sessions[1].Losses) != 1 || s.Sessions[2].Losses[0].Kind != loss.Inferred {
		t.Errorf("%+v", s)
	}
	rep, dst, err = convertTalk(t, text, Options{Allow: loss.Unreadable})
	if err != nil || fates(rep) != "a placed, b placed, c placed" || len(placed(t, dst)) != 3 {
		t.Error(fates(rep), err)
	}
	rep, dst, err = convertTalk(t, "session a\nlose dropped\nsay hello\n", Options{Allow: loss.Reshaped})
	if err != nil || rep.Placed || fates(rep) != "a skipped" || rep.Stores[0].Status != Skipped || len(placed(t, dst)) != 0 {
		t.Error(fates(rep), err)
	}
	nothingBut(t, filepath.Dir(dst), "talk.txt")
}

// TestStrayLosses: what is noted behind the last session belongs to it if it is
// the only one, to the store otherwise.
func TestStrayLosses(t *testing.T) {
	for text, want := range map[string]string{
		"session a\nsay x\nsession b\nsay y\nfile /a\nlose unreadable\n": "a placed, b skipped",
		"bad a\nbad b\nlose unreadable\n":                                "a failed, b failed",
		"session a\nsay hello\nfile /x\nbad b\nlose unreadable\n":        "a placed, b failed",
		"lose unreadable\n": "",
	} {
		rep, _, _ := convertTalk(t, text, Options{})
		if fates(rep) != want || len(rep.Stores[0].Losses) != 1 {
			t.Errorf("%q: %s, want %s; %+v", text, fates(rep), want, rep.Stores[0].Losses)
		}
		if beyond := rep.Beyond() == 1; beyond != !strings.Contains(want, "skipped") {
			t.Errorf("%q: losses beside the sessions: %v", text, beyond)
		}
	}
}

func TestOneBadSessionDoesNotStopTheOthers(t *testing.T) {
	rep, dst, err := convertTalk(t, "session a\nsay hello\nbad b\nsession c\nwizard hm\nsay z\nsession d\nsay x\n", Options{})
	if err != nil || fates(rep) != "a placed, b failed, c failed, d placed" || rep.Stores[0].Status != Placed {
		t.Fatal(fates(rep), err)
	}
	if got := rep.Stores[0].Sessions[2].Error.Message; !strings.Contains(got, "line 2 of the session: does not match schema canonical-1: /role: must be one of") {
		t.Error(got)
	}
	if got := slices.Sorted(maps.Keys(placed(t, dst))); !slices.Equal(got, []string{"talk/a.jsonl", "talk/d.jsonl"}) {
		t.Errorf("%q", got)
	}
	rep, dst, err = convertTalk(t, "bad a\nbad b\n", Options{})
	if err == nil || !strings.Contains(err.Error(), "none of its 2 sessions could be converted; the first error was: its root is missing") || fates(rep) != "a failed, b failed" {
		t.Error(fates(rep), err)
	}
	nothingBut(t, filepath.Dir(dst), "talk.txt")
}

// TestBrokenStore: nothing of a store that broke off is placed, and everything
// of the others is.
func TestBrokenStore(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/in/a/talk.txt", "talk\nsession a\nsay x\nsession b\nsay y\nbreak\n")
	write(t, dir+"/in/b/talk.txt", "talk\nsession c\nsay z\n")
	write(t, dir+"/in/c/talk.txt", "talk\nsession d\nsay z\nforget\nsay z\n")
	rep, err := Convert(t.Context(), talkers(nil), dir+"/in", dir+"/out", Options{To: "canonical"})
	if err != nil || fates(rep) != "a failed, b failed, c placed, d failed" {
		t.Fatal(fates(rep), err)
	}
	if rep.Stores[0].Error.Message != "talk: line 6: malformed page" || !strings.Contains(rep.Stores[2].Error.Message, "talk.txt is accounted for: 5 records read, 4 converted, 0 carried raw") {
		t.Errorf("%+v %+v", rep.Stores[0].Error, rep.Stores[2].Error)
	}
	if got := slices.Sorted(maps.Keys(placed(t, dir+"/out"))); !slices.Equal(got, []string{"talk/c.jsonl"}) {
		t.Errorf("%q", got)
	}
}

// TestAccountOfSelection: what was not asked for need not be accounted for.
func TestAccountOfSelection(t *testing.T) {
	dir := t.TempDir()
	src := write(t, dir+"/talk.txt", "talk\nsession a\nsay z\nsession b\nforget\nsay z\nsession c\nsay z\n")
	for i, ids := range [][]string{{"a"}, {"a", "c"}, nil} {
		_, err := Convert(t.Context(), talkers(nil), src, fmt.Sprintf("%s/%d", dir, i), Options{To: "canonical", Sessions: ids})
		if (err == nil) != (ids != nil) {
			t.Errorf("%q: %v", ids, err)
		}
	}
}

func TestDryRunOfSessions(t *testing.T) {
	rep, dst, err := convertTalk(t, twoTalks+"session c\nwizard x\n", Options{DryRun: true})
	if err != nil || rep.Placed || fates(rep) != "a checked, b checked, c failed" || rep.Stores[0].Status != Checked || rep.Stores[0].Sessions[0].Messages != 3 {
		t.Errorf("%s %v %+v", fates(rep), err, rep)
	}
	nothingBut(t, filepath.Dir(dst), "talk.txt")
}

// TestStaircase: the text of a store is made a store again, in private, to be
// understood.
func TestStaircase(t *testing.T) {
	dir := t.TempDir()
	src := write(t, dir+"/a.left", leftText(3))
	reg := talkers(nil)
	if _, err := Convert(t.Context(), reg, src, dir+"/text", Options{To: "right"}); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{src, dir + "/text"} {
		dst := from + ".out"
		rep, err := Convert(t.Context(), reg, from, dst, Options{To: "canonical"})
		if err != nil || fates(rep) != "left placed" || rep.Stores[0].Sessions[0].Messages != 3 {
			t.Fatal(from, fates(rep), err)
		}
		if got := placed(t, dst); !strings.Contains(got["left/left.jsonl"], "value 2") {
			t.Errorf("%q", got)
		}
	}
	nothingBut(t, dir, "a.left", "a.left.out", "text", "text.out")
	mute := write(t, dir+"/in/mute", "mute\norigin mute\ntable x\n")
	_, err := Convert(t.Context(), reg, mute, dir+"/out", Options{To: "canonical"})
	if err == nil || !strings.Contains(err.Error(), "no exact conversion to canonical, and sessions cannot be read") {
		t.Error(err)
	}
}

// TestSessionOfNothing: of a file that is only claimed so that opening it says
// what is wrong, that is what is said.
func TestSessionOfNothing(t *testing.T) {
	dir := t.TempDir()
	torn := write(t, dir+"/torn", "mute\n")
	_, err := Convert(t.Context(), talkers(nil), torn, dir+"/out", Options{To: "canonical"})
	if err == nil || !strings.Contains(err.Error(), "not a fake") {
		t.Error(err)
	}
}

// TestPlacesOfAFile: where the store is a file, the places of its losses say
// which.
func TestPlacesOfAFile(t *testing.T) {
	rep, _, err := convertTalk(t, twoTalks+"session c C\nlose reshaped\n", Options{})
	if err != nil || len(rep.Stores[0].Losses) == 0 || rep.Stores[0].Losses[0].Places[0] != "talk.txt:10" {
		t.Errorf("%+v, %v", rep.Stores[0].Losses, err)
	}
	dir := t.TempDir()
	src := write(t, dir+"/a.left", leftText(1)+"9\t!loss\n")
	rep, err = Convert(t.Context(), talkers(nil), src, dir+"/out", Options{To: "right", Sidecar: "none", Allow: loss.Unreadable})
	if err != nil || len(rep.Stores[0].Losses) == 0 || !strings.HasPrefix(rep.Stores[0].Losses[0].Places[0], "a.left/") {
		t.Errorf("%+v, %v", rep.Stores[0].Losses, err)
	}
}

// TestSessionMisuse: flags of which nothing would come are refused, before
// anything is read.
func TestSessionMisuse(t *testing.T) {
	for flag, o := range map[string]Options{
		"--cwd": {Cwd: "/x"}, "--compress": {Compress: "gzip"}, "--with-secrets": {WithSecrets: true}, "--sidecar": {Sidecar: "some/file"},
	} {
		_, dst, err := convertTalk(t, twoTalks, o)
		if !errors.As(err, new(Misuse)) || !strings.HasPrefix(err.Error(), flag+" has no effect with --to canonical") || formats.Hint(err) == "" {
			t.Errorf("%s: %v", flag, err)
		}
		nothingBut(t, filepath.Dir(dst), "talk.txt")
	}
	dir := t.TempDir()
	src := write(t, dir+"/a.left", leftText(3))
	if _, err := Convert(t.Context(), talkers(nil), src, dir+"/b", Options{To: "right", History: true}); !errors.As(err, new(Misuse)) {
		t.Error(err)
	}
	if _, err := Convert(t.Context(), talkers(nil), src, dir+"/b", Options{}); err == nil || !strings.Contains(formats.Hint(err), "right, mute, canonical") {
		t.Errorf("%v, hint %q", err, formats.Hint(err))
	}
	one, err := Convert(t.Context(), talkers(nil), src, dir+"/c", Options{To: "canonical", Sidecar: "none"})
	if err != nil {
		t.Error(one, err)
	}
	if _, err := Convert(t.Context(), talkers(nil), dir+"/c", dir+"/d", Options{}); err == nil || !strings.Contains(err.Error(), "no exact conversion from this format") {
		t.Error(err)
	}
	if _, err := Convert(t.Context(), talkers(nil), dir+"/c", "", Options{Cwd: "/x", Home: dir}); err == nil {
		t.Error("sessions have no place of their own")
	}
}

func TestExistingTargetOfSessions(t *testing.T) {
	dir := t.TempDir()
	src := write(t, dir+"/in/talk.txt", "talk\n"+twoTalks)
	for _, name := range []string{"out", "out.jsonl"} {
		dst := filepath.Join(dir, name)
		for i := range 2 {
			_, err := Convert(t.Context(), talkers(nil), src, dst, Options{To: "canonical"})
			if (err == nil) != (i == 0) || i == 1 && !errors.Is(err, formats.ErrExists) {
				t.Error(err)
			}
		}
		rep, err := Convert(t.Context(), talkers(nil), src, dst, Options{To: "canonical", Replace: true})
		if err != nil || rep.Backup != dst+".bak-1" {
			t.Error(rep, err)
		}
	}
	nothingBut(t, dir, "in", "out", "out.bak-1", "out.jsonl", "out.jsonl.bak-1")
	open, _ := filepath.Glob("/proc/self/fd/*") // empty on other systems
	for _, fd := range open {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, dir) {
			t.Errorf("%s is open", to)
		}
	}
}

// TestCancelledSessions: wherever it is stopped, nothing is left.
func TestCancelledSessions(t *testing.T) {
	for at := 1; at <= 8; at++ {
		dir := t.TempDir()
		src := write(t, dir+"/talk.txt", "talk\n"+twoTalks)
		ctx, cancel := context.WithCancel(t.Context())
		reg := talkers(&listener{onLine: func(n int) {
			if n == at {
				cancel()
			}
		}})
		rep, err := Convert(ctx, reg, src, dir+"/out", Options{To: "canonical"})
		if !errors.Is(err, context.Canceled) || rep.Placed || strings.Contains(fates(rep), "placed") {
			t.Errorf("%d: %v %s", at, err, fates(rep))
		}
		nothingBut(t, dir, "talk.txt")
	}
}

// TestSubagentsComeAlong: a choice by time is one of sessions, and what they
// started goes with them, whether lists name it or not.
func TestSubagentsComeAlong(t *testing.T) {
	m := newMover(t, "session a\nsay one\nsession b\nsay two\nsession c\nsay three\nsession d\nsay four\n")
	m.parents = map[string]string{"b": "a", "c": "b", "d": "gone"}
	f := m.format()
	decode := f.Sessions.Decode
	f.Sessions.Decode = func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			for s, err := range decode(ctx, l, v, session.Selection{Account: sel.Account}) {
				if s.ID == "a" {
					s.Updated = session.Stored(2000)
				}
				if !yield(s, err) {
					return
				}
			}
		}
	}
	rep, err := Convert(t.Context(), formats.NewRegistry(f, canonical.Format()), m.src, m.dir, Options{To: "canonical", Since: 1000})
	if err != nil || fates(rep) != "a placed, b placed, c placed" {
		t.Errorf("%v, %s", err, fates(rep))
	}
}

// TestProgressOfSome: how far it is with a part of a store is told without a
// total, which would be that of the whole.
func TestProgressOfSome(t *testing.T) {
	for some, want := range map[string]bool{"": true, "b": false} {
		totals := false
		o := Options{OnProgress: func(p Progress) { totals = totals || p.Stage == "reading" && p.Total > 0 }}
		if some != "" {
			o.Sessions = []string{some}
		}
		if _, _, err := convertTalk(t, twoTalks, o); err != nil || totals != want {
			t.Errorf("session %q: total %v, %v", some, totals, err)
		}
	}
}

// TestChoice: what of a list is decoded.
func TestChoice(t *testing.T) {
	head := func(id, parent string, at int64) *session.Head {
		h := &session.Head{ID: id, Updated: session.Stored(at)}
		if parent != "" {
			h.Parent = &session.Link{Session: parent}
		}
		return h
	}
	for _, c := range []struct {
		asked []string
		want  string
	}{{nil, "a e b c"}, {[]string{"a", "d", "inner"}, "a inner"}} {
		of := newSelector(&input{opts: Options{Since: 1000, Sessions: c.asked}})
		for _, h := range []*session.Head{head("c", "b", 5), head("a", "", 2000), head("b", "a", 5), head("d", "", 5), head("e", "d", 2000), head("f", "d", 5), head("g", "g", 5)} {
			of.add(h)
		}
		if got := strings.Join(of.all(), " "); got != c.want {
			t.Errorf("of %q: %s, want %s", c.asked, got, c.want)
		}
	}
}

// TestSessionsReadAgain: sessions are read again while the next ones are
// written, and are reported in their order, whatever that took and came to.
func TestSessionsReadAgain(t *testing.T) {
	reg := talkers(nil)
	to := reg.Lookup("canonical")
	began, release := make(chan struct{}), make(chan struct{})
	verifying(to, func(path string) error {
		switch filepath.Base(path) {
		case "0": // the first is the last to be done
			close(began)
			<-release
		case "1":
			<-began
			close(release)
			return errors.New("not what was written")
		}
		return nil
	})
	dir := t.TempDir()
	src := write(t, dir+"/talk.txt", "talk\nsession a\nsay hello\nsession b\nsay hello\nbad\nsession d\nsay hello\n")
	rep, err := Convert(t.Context(), reg, src, dir+"/out", Options{To: "canonical", Jobs: 4})
	if err != nil || fates(rep) != "a placed, b failed,  failed, d placed" {
		t.Errorf("%v, %s", err, fates(rep))
	}
	if s := rep.Stores[0].Sessions; s[1].Error == nil || !strings.Contains(s[1].Error.Message, "not what was written") {
		t.Errorf("%+v", s)
	}
	nothingBut(t, dir, "out", "talk.txt")
	nothingBut(t, dir+"/out/talk", "a.jsonl", "d.jsonl")
}

// TestFolders: what the sessions of each folder come to.
func TestFolders(t *testing.T) {
	of := func(dir, status string) SessionReport {
		return SessionReport{Workspace: dir, Status: status, Messages: 3, Turns: 2, Bytes: 100}
	}
	r := &Report{Stores: []StoreReport{
		{Sessions: []SessionReport{of("", Placed), of("/b", Placed), of("/a", Checked), of("/b", Skipped)}},
		{Sessions: []SessionReport{of("/b", Placed), of("/c", Failed)}},
	}}
	want := []WorkspaceReport{
		{Path: "/a", Sessions: 1, Messages: 3, Turns: 2, Bytes: 100},
		{Path: "/b", Sessions: 2, Skipped: 1, Messages: 6, Turns: 4, Bytes: 200},
		{Path: "/c", Failed: 1},
		{Path: "", Sessions: 1, Messages: 3, Turns: 2, Bytes: 100},
	}
	if got := r.byWorkspace(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestWrongEncoder: what comes back another is not placed.
func TestWrongEncoder(t *testing.T) {
	for name, spoil := range map[string]func(path string){
		"a byte": func(path string) {
			edit(t, path, func(s string) string { return strings.Replace(s, "hello", "hallo", 1) })
		},
		"a line":   func(path string) { edit(t, path, func(s string) string { return s[:strings.Index(s, "\n")+1] }) },
		"twice":    func(path string) { edit(t, path, func(s string) string { return s + s }) },
		"all":      func(path string) { edit(t, path, func(s string) string { return "" }) },
		"torn":     func(path string) { edit(t, path, func(s string) string { return s[:len(s)-9] }) },
		"the file": func(path string) { os.Remove(path) },
	} {
		for _, how := range []string{"fast", VerifyFull} {
			spoilt(t, name, how, "failed", func(ctx context.Context, s *session.Session, b formats.SessionBuild, own formats.Sink) (*formats.Draft, error) {
				d, err := own.Put(ctx, s, b)
				spoil(b.Path)
				return d, err
			})
		}
	}
}

// TestVerifyFull: what has the bytes that the sink wrote, but not those that were
// judged, is found by decoding it again.
func TestVerifyFull(t *testing.T) {
	for how, fate := range map[string]string{"": "placed", VerifyFull: "failed"} {
		spoilt(t, "another title", how, fate, func(ctx context.Context, s *session.Session, b formats.SessionBuild, own formats.Sink) (*formats.Draft, error) {
			b.Line, s.Title = nil, "another"
			return own.Put(ctx, s, b)
		})
	}
}

func spoilt(t *testing.T, name, how, fate string, put func(context.Context, *session.Session, formats.SessionBuild, formats.Sink) (*formats.Draft, error)) {
	t.Helper()
	reg, dir := talkers(nil), t.TempDir()
	putting(reg.Lookup("canonical"), put)
	src := write(t, dir+"/talk.txt", "talk\nsession a\nsay hello\n")
	rep, err := Convert(t.Context(), reg, src, dir+"/out", Options{To: "canonical", Verify: how})
	if (err == nil) != (fate == "placed") || fates(rep) != "a "+fate {
		t.Errorf("%s, %q: %v %s", name, how, err, fates(rep))
	}
	if fate == "failed" {
		nothingBut(t, dir, "talk.txt")
	}
}

func edit(t *testing.T, path string, f func(string) string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(f(string(b))), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A format whose files hold one session each takes several only as a folder.
func TestSessionsInOneFileEach(t *testing.T) {
	dir := t.TempDir()
	src := write(t, dir+"/in/talk.txt", "talk\n"+twoTalks)
	reg := formats.NewRegistry(talk(nil), client())
	for _, dry := range []bool{true, false} {
		_, err := Convert(t.Context(), reg, src, dir+"/all.txt", Options{To: "client", DryRun: dry})
		if err == nil || !strings.Contains(err.Error(), "cannot write 2 sessions to one file") || !strings.Contains(formats.Hint(err), "SRC#ID") {
			t.Errorf("dry %v: %v", dry, err)
		}
		nothingBut(t, dir, "in")
	}
	write(t, src, "talk\nsession b\nsay hi\n")
	if rep, err := Convert(t.Context(), reg, src, dir+"/one.txt", Options{To: "client"}); err != nil || !rep.Placed {
		t.Errorf("one session: %v", err)
	}
}

// TestDryRunTellsTheSame: what a dry run reports of sessions is what the run
// itself reports, names included.
func TestDryRunTellsTheSame(t *testing.T) {
	src := t.TempDir()
	write(t, filepath.Join(src, "1.txt"), "talk\nsession same First\nsay hello\nsession Same Second\nsay hi\nsession bad Bad\nsay x\nbad\nsession lost Lossy\nlose unreadable\nsay y\n")
	write(t, filepath.Join(src, "2.txt"), "talk\nsession same Third\nsay hello\nsession SAME-2 Fourth\nsay hi\n")
	for _, to := range []string{"out", "all.jsonl"} {
		var told [2]string
		for i, dry := range []bool{true, false} {
			rep, err := Convert(t.Context(), talkers(nil), src, filepath.Join(t.TempDir(), to), Options{To: "canonical", DryRun: dry})
			if err != nil {
				t.Fatal(err)
			}
			rep.Placed, rep.DryRun, rep.Target = false, false, ""
			text, err := json.MarshalIndent(rep, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			told[i] = strings.ReplaceAll(string(text), `"checked"`, `"placed"`)
		}
		if told[0] != told[1] {
			t.Errorf("a dry run says\n%s\nthe run says\n%s", told[0], told[1])
		}
		if n := strings.Count(told[0], `"note"`); to == "out" && n != 1 {
			t.Errorf("%d names were taken:\n%s", n, told[0])
		}
	}
}

// TestNamesAreGivenInSteps: any number of sessions that ask for one name, in
// whatever case, get theirs in as many steps.
func TestNamesAreGivenInSteps(t *testing.T) {
	steps := func(n int) int {
		names := newFileNames()
		for i := range n {
			asked := []byte("talk/abcdefghijklmnop.jsonl")
			for bit := range 16 {
				if i>>bit&1 == 1 {
					asked[5+bit] -= 'a' - 'A'
				}
			}
			names.assign(string(asked))
		}
		if len(names.taken) != n {
			t.Errorf("%d names for %d", len(names.taken), n)
		}
		return names.steps
	}
	if a, b := steps(1000), steps(8000); b > 10*a {
		t.Errorf("%d steps for 1,000, %d for 8,000", a, b)
	}
}
