package formatstest

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"rehome/formats"
	"rehome/formats/session"
)

// maxScanned is how many words of a source are searched for.
const maxScanned = 1024

// scanned: whatever word decoding finds in a session is found in its stored bytes.
func scanned(t *testing.T, c Case, s source) {
	if c.Format.Sessions.Scan != nil {
		Scanned(t, c.Format, s.path)
	}
}

// Scanned tests that Scan finds every word of a store that Decode finds.
func Scanned(t *testing.T, f *formats.Format, path string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	if f.Sessions.Heads != nil {
		for h := range f.Sessions.Heads(t.Context(), l, silent()) {
			if h != nil {
				listed[h.ID] = true
			}
		}
	}
	holders := map[string][]string{} // sessions by word
	parents := map[string]string{}
	for one := range f.Sessions.Decode(t.Context(), l, silent(), session.Selection{}) {
		if one == nil || one.Messages == nil {
			continue
		}
		if one.Parent != nil && !listed[one.ID] {
			parents[one.ID] = one.Parent.Session
		}
		words := map[string]bool{}
		for m, err := range one.Messages {
			if err == nil {
				wordsOf(words, m)
			}
		}
		for w := range words {
			holders[w] = append(holders[w], one.ID)
		}
	}
	list := slices.Sorted(maps.Keys(holders))
	for step := (len(list) + maxScanned - 1) / maxScanned; step > 1; step = 1 {
		kept := list[:0]
		for i := 0; i < len(list); i += step {
			kept = append(kept, list[i])
		}
		list = kept
	}
	for batch := range slices.Chunk(list, 63) {
		span := 0
		for _, w := range batch {
			span = max(span, 6*len(w))
		}
		scan := formats.NewScan(1<<63-1, 0, span, func(b []byte) (terms uint64) {
			plain := unescaped(b)
			for i, w := range batch {
				if bytes.Contains(plain, []byte(w)) || bytes.Contains(b, []byte(w)) {
					terms |= 1 << i
				}
			}
			return terms
		})
		if err := f.Sessions.Scan(t.Context(), l, silent(), scan); err != nil {
			t.Fatal(err)
		}
		for i, w := range batch {
			for _, id := range holders[w] {
				terms := uint64(0)
				for up, depth := id, 0; up != "" && depth < 64; up, depth = parents[up], depth+1 {
					terms |= scan.Terms(up)
				}
				if terms>>i&1 == 0 {
					t.Errorf("%q is in session %s, and is not found in its stored bytes", w, id)
				}
			}
		}
	}
}

// wordsOf collects the words of a message.
func wordsOf(words map[string]bool, m *session.Message) {
	add := func(text string) {
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
			if strings.IndexFunc(w, unicode.IsLetter) >= 0 {
				words[w] = true
			}
		}
	}
	values := func(raw session.Raw) {
		for s := range session.Strings(raw) {
			add(s)
		}
	}
	var part func(p session.Part, inResult bool)
	part = func(p session.Part, inResult bool) {
		switch p := p.(type) {
		case *session.Text:
			add(p.Text)
		case *session.Thinking:
			add(p.Text)
		case *session.Summary:
			add(p.Text)
		case *session.Injected:
			add(p.Text)
			values(p.Data)
		case *session.ToolCall:
			add(p.Name)
			values(p.Args)
			values(p.Input)
		case *session.ToolResult:
			values(p.Value)
			for _, one := range p.Content {
				part(one, true)
			}
		case *session.Opaque:
			if inResult {
				values(p.Raw)
			}
		}
	}
	for _, p := range m.Parts {
		part(p, false)
	}
	if m.Turn != nil {
		add(m.Turn.RequestID)
	}
}

var jsonEscape = regexp.MustCompile(`\\+u([0-9a-fA-F]{4})(?:\\+u([dD][c-fC-F][0-9a-fA-F]{2}))?`)

// unescaped replaces the escapes of JSON by the characters that they stand for.
func unescaped(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\u`)) {
		return b
	}
	return jsonEscape.ReplaceAllFunc(b, func(e []byte) []byte {
		m := jsonEscape.FindSubmatch(e)
		first, _ := strconv.ParseUint(string(m[1]), 16, 16)
		out := string(rune(first))
		if second, err := strconv.ParseUint(string(m[2]), 16, 16); err == nil {
			if out = string(utf16.DecodeRune(rune(first), rune(second))); out == "\uFFFD" {
				out = string(rune(first)) + string(rune(second))
			}
		}
		return []byte(out)
	})
}
