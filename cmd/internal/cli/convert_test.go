package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ünïcode 日本 \\": "plain ünïcode 日本 \\",
		"a\x1b[31mred":        `a\x1b[31mred`,
		"two\nlines\tand\r":   `two\nlines\tand\x0d`,
		"\u009b31m":           `\x9b31m`,
		"abc\u202egnp.exe":    `abc\u202egnp.exe`,
		"bad\xff\xfebytes":    `bad\xff\xfebytes`,
		"zero\u200bwidth":     `zero\u200bwidth`,
		"tag\U000e0041":       `tag\U000e0041`,
		"sep\u2028":           `sep\u2028`,
		"\x00\x7f":            `\x00\x7f`,
		"real \ufffd":         "real \ufffd",
	} {
		if got := string(screen.Visible(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range screen.Visible(s) {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%q lets %U through", s, r)
			}
		}
		var doc bytes.Buffer
		if err := console.WriteJSON(&doc, s); err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(doc.Bytes(), &back); err != nil {
			t.Fatalf("%q: %v", doc.Bytes(), err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); back != want && !strings.Contains(want, "\ufffd") {
			t.Fatalf("%q came back as %q", want, back)
		}
		for _, r := range strings.TrimSuffix(doc.String(), "\n") {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("JSON of %q lets %U through", s, r)
			}
		}
	})
}

func TestVerdict(t *testing.T) {
	report := func(statuses ...string) *convert.Report {
		r := &convert.Report{}
		for i, s := range statuses {
			r.Stores = append(r.Stores, convert.StoreReport{Path: fmt.Sprint(i), Status: s})
		}
		return r
	}
	for _, c := range []struct {
		r    *convert.Report
		err  error
		want int
	}{
		{report(convert.Placed, convert.Placed), nil, 0},
		{report(convert.Checked), nil, 0},
		{report(convert.Placed, convert.Failed), nil, 1},
		{report(convert.Placed, convert.Skipped), nil, 3},
		{report(convert.Skipped), nil, 3},
		{report(convert.Skipped, convert.Failed, convert.Placed), nil, 1},
		{report(convert.Failed, convert.Failed), formats.ErrBusy, 5},
	} {
		if got := console.ExitCode(reportError(c.r, c.err)); got != c.want {
			t.Errorf("%v, %v: %d, want %d", c.r.Stores, c.err, got, c.want)
		}
	}
}

func TestClientColors(t *testing.T) {
	seen := map[screen.Safe]string{"x": "none"}
	for _, client := range all.Registry().Clients() {
		got := screen.Palette(true).Client(client, "x")
		if seen[got] != "" {
			t.Errorf("%s and %s have the same color", client, seen[got])
		}
		seen[got] = client
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB", 9950: "10 kB", 999499: "999 kB", 999500: "1.0 MB", 351e6: "351 MB", 5e15: "5 PB"} {
		if got := string(screen.Size(in)); got != want {
			t.Errorf("size(%d) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 47043: "47,043", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := string(screen.Grouped(in)); got != want {
			t.Errorf("grouped(%d) = %s, want %s", in, got, want)
		}
	}
}

// TestWorkspace: what is absolute stays as it is written; what is not begins
// at the working directory by the name that the system has for it.
func TestWorkspace(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		link = real // a system that does not let everybody make one
	}
	t.Chdir(link)
	slash := string(filepath.Separator)
	for in, want := range map[string]string{
		".": real, "sub": filepath.Join(real, "sub"), filepath.Join("..", "x"): filepath.Join(filepath.Dir(real), "x"),
		link: link, link + slash: link + slash, link + slash + slash + "." + slash + "a": link + slash + slash + "." + slash + "a",
	} {
		if got, err := absFolder(in); got != want || err != nil {
			t.Errorf("%s: %s, want %s (%v)", in, got, want, err)
		}
	}
}

// TestCrowd is that a session with a line of its own is not counted again
// among the others.
func TestCrowd(t *testing.T) {
	list := make([]convert.SessionReport, maxSessionRows+5)
	for i := range list {
		list[i] = convert.SessionReport{ID: fmt.Sprint(i), Agent: "cursor-cli", Status: convert.Placed}
	}
	list[0].Note, list[1].Status = "renamed: another session has the name", convert.Skipped
	for _, c := range []struct {
		noted int
		want  string
	}{{1, "and 23 more sessions"}, {len(list), ""}} {
		for i := range c.noted {
			list[i].Note = "renamed: another session has the name"
		}
		var out strings.Builder
		r := convertResult{Report: &convert.Report{Stores: []convert.StoreReport{{Sessions: list}}}}
		r.sessions(screen.NewPage(&out, false))
		if c.want != "" && !strings.Contains(out.String(), c.want) || c.want == "" && strings.Contains(out.String(), "more sessions") {
			t.Errorf("%d with a note:\n%s", c.noted, out.String())
		}
	}
}

// TestManyStores: stores that were converted are only counted if there are many; the
// others have a line each.
func TestManyStores(t *testing.T) {
	stores := make([]convert.StoreReport, maxSessionRows+1)
	for i := range stores {
		stores[i] = convert.StoreReport{Path: fmt.Sprintf("chat-%d", i), Status: convert.Placed}
	}
	stores[7].Status = convert.Failed
	for _, want := range []struct{ n, lines int }{{maxSessionRows, maxSessionRows}, {maxSessionRows + 1, 1}} {
		var out strings.Builder
		convertResult{Report: &convert.Report{Stores: stores[:want.n]}}.several(screen.NewPage(&out, false))
		if n := strings.Count(out.String(), "chat-"); n != want.lines ||
			!strings.Contains(out.String(), fmt.Sprintf("%d placed, 1 failed", want.n-1)) {
			t.Errorf("%d stores:\n%s", want.n, out.String())
		}
	}
}

// TestUsualForms: what other programs take for help and version works here, too.
func TestUsualForms(t *testing.T) {
	for args, want := range map[string]string{
		"--version": "rehome ", "-V": "rehome ", "--version --json": "{", "help": about, "help all": about, "help check": "Verify stores",
		"check -h":    "Verify stores",
		"list --help": "List the sessions", "view --help": "Print a session", "cat --help": "Print a session",
	} {
		stdout, stderr, code := call(t, strings.Fields(args)...)
		if code != 0 || !strings.HasPrefix(stdout, want) {
			t.Errorf("%s: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
}

// TestDidYouMean: a mistyped word is met with what was probably meant.
func TestDidYouMean(t *testing.T) {
	for args, want := range map[string]string{
		"shwo": "did you mean show?", "LS": "did you mean ls?", "help conver": "did you mean convert?", "export": "did you mean convert?",
		"import": "did you mean migrate?",
		"hlep":   "did you mean help?", "ls --clint cursor-cli": "did you mean --client?", "convert a b --jsno": "did you mean --json?",
		"convert . b --to Archive": "did you mean archive?", "check . --for claude": "did you mean claude-code?",
		"convert . b --from ndjson": "did you mean cursor-ndjson?",
		"check --explain rh3003":    "did you mean RH303?", "check . --skip nothing": "run `rehome check --rules` to list them",
		"convert . - --to canonical": "name a file or folder; ./- for one of that name",
		"convert . b --to markdown":  "run `rehome show SRC --format markdown`, with --out DIR for several sessions",
		"schema canonicla-1":         "did you mean canonical-1?", "frobnicate": "run `rehome help` to list the commands",
		"ls --frobnicate": "run `rehome help ls` for its arguments and flags",
	} {
		if _, stderr, code := call(t, strings.Fields(args)...); code == 0 || !strings.HasSuffix(stderr, "\n  hint: "+want+"\n") {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
}

// TestVersion: a development build is named by its commit.
func TestVersion(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-11-22T10:00:00+01:00"}}
	dirty := append(slices.Clone(commit), debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{"v0.3.1", commit, "v0.3.1"}, {"(devel)", commit, "v0.0.0-20261122090000-0123456789ab"},
		{"(devel)", dirty, "v0.0.0-20261122090000-0123456789ab+dirty"}, {"", nil, "(devel)"}, {"(devel)", commit[:1], "(devel)"},
	} {
		if got := newVersion(&debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings}); got.Version != c.want {
			t.Errorf("%s, %v: %s, want %s", c.main, c.settings, got.Version, c.want)
		}
	}
}
