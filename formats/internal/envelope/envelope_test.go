package envelope

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Piece
	}{
		"nothing":                    {"", nil},
		"a prompt without a tag":     {"fix <b>it</b>\n", []Piece{{"", "fix <b>it</b>\n"}}},
		"context, then the prompt":   {"<user_info>\nOS: x\n</user_info>\n\n<user_query>\nfix\nit\n</user_query>", []Piece{{"user_info", "OS: x"}, {Query, "fix\nit"}}},
		"one behind the other":       {"<rules>\na\n</rules>\n<git_status>\nb\n</git_status>\n", []Piece{{"rules", "a"}, {"git_status", "b"}}},
		"on one line":                {"<timestamp>Sunday</timestamp>\n<user_query>\nx\n</user_query>", []Piece{{"timestamp", "Sunday"}, {Query, "x"}}},
		"blanks around the content":  {"<user_query>\n\n x \n\n</user_query>", []Piece{{Query, "\n x \n"}}},
		"text around a tag":          {"before\n<rules>\nr\n</rules>\nafter\n", []Piece{{"", "before"}, {"rules", "r"}, {"", "after\n"}}},
		"more than a separation":     {"<rules>\nr\n</rules>\n\n\n\nafter", []Piece{{"rules", "r"}, {"", "\n\nafter"}}},
		"a tag within a line":        {"see <user_info> and </user_info>\n", []Piece{{"", "see <user_info> and </user_info>\n"}}},
		"not closed":                 {"<user_query>\nx", []Piece{{"", "<user_query>\nx"}}},
		"not closed, a tag after it": {"<rules><user_query>x</user_query>", []Piece{{"", "<rules><user_query>x</user_query>"}}},
		"closed within a line":       {"<rules>\nr </rules> x\n", []Piece{{"", "<rules>\nr </rules> x\n"}}},
		"an unknown tag":             {"<system>\nx\n</system>", []Piece{{"", "<system>\nx\n</system>"}}},
		"a query that mentions ends": {"<user_query>\nbom </user_query> x\n</user_query>", []Piece{{Query, "bom </user_query> x"}}},
		"a query that quotes one":    {"<user_query>\nwhy does\n</user_query>\nend it?\n</user_query>", []Piece{{Query, "why does\n</user_query>\nend it?"}}},
		"two queries":                {"<user_query>\na\n</user_query>\n<user_query>\nb\n</user_query>", []Piece{{Query, "a"}, {Query, "b"}}},
		"two queries, text between":  {"<user_query>\na\n</user_query>\nx\n<user_query>\nb\n</user_query>", []Piece{{Query, "a"}, {"", "x"}, {Query, "b"}}},
		"a whole envelope in it":     {"<user_query>\n<rules>\nx\n</rules>\n</user_query>", []Piece{{Query, "<rules>\nx\n</rules>"}}},
		"text behind the query":      {"<user_query>\na\n</user_query>\n\nand more", []Piece{{Query, "a"}, {"", "and more"}}},
		"an empty query":             {"<user_query>\n</user_query>", []Piece{{Query, ""}}},
	} {
		if got := Split(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

// TestSplitLinear: tags without an end are looked for once, not once each.
func TestSplitLinear(t *testing.T) {
	text := strings.Repeat("<rules>\n<user_query>\n<timestamp>\n", 200_000)
	if got := Split(text); len(got) != 1 || got[0].Text != text {
		t.Errorf("%d pieces of tags that nobody closes", len(got))
	}
}

// FuzzSplit: every byte but line ends and the tags themselves is in a piece.
func FuzzSplit(f *testing.F) {
	f.Add("<user_info>\nx\n</user_info>\n\n<user_query>\ny\n</user_query>")
	f.Add("a\n<rules>r</rules>\nb")
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		for _, p := range Split(text) {
			if p.Tag != "" {
				b.WriteString("<" + p.Tag + ">" + p.Text + "</" + p.Tag + ">")
			} else {
				b.WriteString(p.Text)
			}
		}
		bare := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
		if bare(b.String()) != bare(text) {
			t.Errorf("%q\nbecame\n%q", text, b.String())
		}
	})
}

func TestTitle(t *testing.T) {
	long := strings.Repeat("é", 79)
	for prompt, want := range map[string]string{
		"": "", " \n a b \n c": "a b", "a\r\nb": "a", long + "x": long + "x", long + " yz": long + "…", long + "xyz": long + "x…",
	} {
		if got := Title(prompt); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}
