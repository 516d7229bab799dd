package linecheck

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// told gathers findings as lines of text.
type told []string

func (f *told) inquiry(layers rule.Layers) *rule.Pass {
	return &rule.Pass{Layers: layers, Report: func(b rule.Finding) {
		*f = append(*f, strings.Join(strings.Fields(fmt.Sprintf("%s %d %s", b.Rule, b.At.Line, b.Pointer)), " "))
	}}
}

// examine walks over a text in a file.
func examine(t *testing.T, text string, o Options) (found, sound string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var f told
	var lines []string
	for l, err := range Lines(t.Context(), path, "x.jsonl", formats.View{}, f.inquiry(rule.Container), o) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%d@%d", l.Number, l.Offset))
	}
	return strings.Join(f, ", "), strings.Join(lines, " ")
}

func TestLines(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600)
	for _, c := range []struct{ format, text, found, sound string }{
		{"claude-code", "{}\n{\"a\":1}\n", "", "1@0 2@3"},
		{"claude-code", "", "RH144 0", ""},
		{"claude-code", "{}\n{}", "RH129 2", "1@0 2@3"},
		{"claude-code", "{}\n{\"a\":", "RH127 2", "1@0"},
		{"stream-json", "{}\n{\"a\":", "RH128 2", "1@0"},
		{"claude-code", "{}\n{\"a\":tru", "RH127 2", "1@0"},
		{"claude-code", "{}\n{\"a\":\"\xe2\x82", "RH127 2", "1@0"},
		{"claude-code", "{}\n{\"a\":\n{}\n", "RH131 2", "1@0 3@9"},
		{"stream-json", "{}\n{\"a\":\nnpm\n{}\n", "RH132 2, RH132 3", "1@0 4@13"},
		{"cursor-transcript", "{}\nnpm\n[]\n{}{}\n", "RH133 2, RH133 3, RH133 4", "1@0"},
		{"claude-code", "\ufeff{}\n{}\n", "RH124 1", "1@3 2@6"},
		{"stream-json", "\ufeff{}\n{}\n", "RH125 1", "1@3 2@6"},
		{"claude-code", "{}\r\n{}\r\n\r\n{}\r\n", "RH126 1, RH130 3", "1@0 2@4 4@10"},
		{"claude-code", " {} \n\n \t\n{}\n", "RH130 2", "1@0 4@9"},
		{"claude-code", "[]\n\"x\"\n7\nnull\n", "RH134 1, RH134 2, RH134 3, RH134 4", ""},
		{"claude-code", "{}{}\n{} x\n", "RH135 1, RH135 2", ""},
		{"claude-code", "{}\n\x00\x00\x00\n{}\n", "RH136 2", "1@0 3@7"},
		{"claude-code", "{\"a\":\"\xff\"}\n", "RH137 1", "1@0"},
		{"claude-code", "\xff\n", "RH131 1", ""},
		{"claude-code", deep + "\n{}\n", "RH139 1", fmt.Sprint("2@", len(deep)+1)},
		{"claude-code", "{\"a\":1,\"a\":2}\n", "RH140 1 /a", "1@0"},
		{"claude-code", "\xff\xfe{\x00}\x00", "RH123 0", ""},
		{"claude-code", "\x1f\x8b\x08\x00", "RH123 0", ""},
		{"", "{\"a\":1e390}\n", "RH141 1 /a", "1@0"},
		{"archive", "{\"a\":9007199254740993}\n", "", "1@0"}, // its readers are exact
	} {
		found, sound := examine(t, c.text, Options{Format: c.format})
		if found != c.found || sound != c.sound {
			t.Errorf("%s %.40q:\n got %s; %s\nwant %s; %s", c.format, c.text, found, sound, c.found, c.sound)
		}
	}
	if found, sound := examine(t, "[1]\n2026-01-01 {}\n", Options{Arrays: true, Trim: func(b []byte) []byte { return bytes.TrimPrefix(b, []byte("2026-01-01 ")) }}); found != "" || sound != "1@0 2@4" {
		t.Errorf("arrays and trimmed lines: %s; %s", found, sound)
	}
	if found, sound := examine(t, "{}\n{\"a\":\"long\"}\n{}\n", Options{Most: 8}); found != "RH138 2" || sound != "1@0 3@16" {
		t.Errorf("a long line: %s; %s", found, sound)
	}
}

func TestMembers(t *testing.T) {
	for l, err := range Text(t.Context(), strings.NewReader(`{ "a" : [1, 2] ,"b":{"a":3},"\u0061":"x" , "n":1e500}`+"\n"), "x", new(told).inquiry(0), Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if a, b, c := string(l.Member("a")), string(l.Member("b")), l.Member("c"); a != `"x"` || b != `{"a":3}` || c != nil || !l.Wild {
			t.Errorf("a %s, b %s, c %s, wild %v", a, b, c, l.Wild)
		}
		var names []string
		for name := range l.Members() {
			names = append(names, string(name))
		}
		if got := strings.Join(names, " "); got != "a b a n" {
			t.Error(got)
		}
		always := func([]byte) []rule.Cause { return []rule.Cause{{Message: "x"}} }
		if l.Causes(always) != nil {
			t.Error("a wild line is checked against a schema")
		}
		l.Matches(&rule.Pass{Report: func(rule.Finding) { t.Error("a wild line is checked against a schema") }}, always, store.Addr{})
	}
}

func TestValue(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`: "", " [1]\n": "", `"x"`: "", `{"a":1,"a":2}`: "RH140 0 /a", `{`: "RH131 0", ``: "RH131 0", `1 2`: "RH131 0", "\"\xff\"": "RH137 0",
		`[1e5000000]`: "RH142 0 /0", `"\ud800"`: "RH143 0", strings.Repeat("[", 9999): "RH139 0",
	} {
		var f told
		ok := Value([]byte(in), store.Addr{File: "a.db", Set: "t"}, f.inquiry(rule.Container))
		if got := strings.Join(f, ","); got != want || ok != (want == "" || strings.HasPrefix(want, "RH140") || strings.HasPrefix(want, "RH143")) {
			t.Errorf("%.20q: %v %s, want %s", in, ok, got, want)
		}
	}
}

// What is not asked is not told, and the lines are the same.
func TestUnasked(t *testing.T) {
	var f told
	n := 0
	for _, err := range Text(t.Context(), strings.NewReader("\ufeff{\"a\":1,\"a\":1}\nx\n{}"), "x", f.inquiry(rule.Schema), Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 || len(f) > 0 {
		t.Errorf("%d lines, %v", n, f)
	}
}

func packedText(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPacked(t *testing.T) {
	whole := packedText(t, bytes.Repeat([]byte("{\"a\":1}\n"), 1000))
	if found, _ := examine(t, string(whole), Options{Packed: true}); found != "" {
		t.Errorf("a packed text: %s", found)
	}
	for n := 4; n < len(whole); n++ {
		if found, _ := examine(t, string(whole[:n]), Options{Packed: true}); found != "RH120 0" {
			t.Fatalf("cut at %d: %s", n, found)
		}
	}
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3}
	for i := range 600 {
		head := 1<<1 | 128<<10<<3
		if i == 599 {
			head |= 1
		}
		frame = append(frame, byte(head), byte(head>>8), byte(head>>16), '\n')
	}
	if found, _ := examine(t, string(frame), Options{Packed: true}); found != "RH121 0" {
		t.Errorf("a bomb: %s", found)
	}
}

func TestNoFile(t *testing.T) {
	var f told
	for range Lines(t.Context(), t.TempDir(), "x", formats.View{}, f.inquiry(rule.Container), Options{}) {
		t.Error("a folder has lines")
	}
	if strings.Join(f, "") != "RH122 0" {
		t.Errorf("a folder: %v", f)
	}
	for _, err := range Lines(t.Context(), filepath.Join(t.TempDir(), "x"), "x", formats.View{}, f.inquiry(rule.Container), Options{}) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file that is not there: %v", err)
		}
	}
}

// A tail that is being written is not torn; a file that is written anew while
// it is read cannot be judged.
func TestInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	for _, c := range []struct {
		text  string
		write func()
		found string
		busy  bool
	}{
		{"{}\n{\"a\":", func() { appendTo(t, path, "1}\n") }, "", false},
		{"{}\n{\"a\":", func() {}, "RH127 2", false},
		{"{}\n{}\n", func() { os.WriteFile(path, []byte("{}\n"), 0o600) }, "", true},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var f told
		var busy error
		for _, err := range Lines(t.Context(), path, "x", formats.View{}, f.inquiry(rule.Container), Options{Format: "claude-code"}) {
			if err != nil {
				busy = err
				continue
			}
			c.write()
			c.write = func() {}
		}
		if got := strings.Join(f, ","); got != c.found || errors.Is(busy, formats.ErrBusy) != c.busy {
			t.Errorf("%q: %s, %v", c.text, got, busy)
		}
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestStops(t *testing.T) {
	n := 0
	for range Text(t.Context(), strings.NewReader("{}\n{}\n{}\n"), "x", new(told).inquiry(0), Options{}) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d lines", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range Text(ctx, strings.NewReader("{}\n"), "x", new(told).inquiry(0), Options{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// A giant line costs no more memory than a line may have.
func TestGiantLine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var f told
	o := Options{Most: 1 << 20}
	r := io.MultiReader(strings.NewReader(`{"a":"`), io.LimitReader(letters{}, 1<<28), strings.NewReader("\"}\n{}\n"))
	n := 0
	for _, err := range Text(t.Context(), r, "x", f.inquiry(rule.Container), o) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	runtime.ReadMemStats(&after)
	if n != 1 || !slices.Equal(f, told{"RH138 1"}) {
		t.Errorf("%d lines, %v", n, f)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d MiB were taken", grown>>20)
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// FuzzLines: whatever the bytes, each line is handed on or found odd, once.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"{}\n", "{\"a\":1}\r\n\n[1]\nx", "\ufeff{}\n\x00\x00\n{\"a\":\"\xff\"}", "{}{}\n{\"a\":1e400,\"a\":\"\\ud800\"}\n{"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var told told
		odd := map[int]bool{}
		o := Options{Format: "claude-code", Most: 64, Odd: func(n int) { odd[n] = true }}
		for l, err := range Text(t.Context(), bytes.NewReader(b), "x", told.inquiry(rule.Container), o) {
			if err != nil {
				t.Fatal(err)
			}
			if odd[l.Number] || len(l.Bytes) == 0 || l.Bytes[0] != '{' {
				t.Errorf("%q: line %d", b, l.Number)
			}
			if len(l.Member("a")) == 0 && l.Member("a") != nil {
				t.Errorf("%q: an empty value", b)
			}
		}
		if len(odd) > 0 && len(told) == 0 {
			t.Errorf("%q: lines are not handed on, and nothing is said", b)
		}
	})
}
