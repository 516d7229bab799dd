package screen

import "testing"

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"/home/ann/app-1.x": "/home/ann/app-1.x", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x;`y`\n": "$'$x;`y`\\012'", "a\xff'\\": `$'a\377\047\134'`, "\u202e": `$'\342\200\256'`, "~/x": "'~/x'", "store.db#1a": "store.db#1a", "#x": "'#x'", "=x": "'=x'", "é": "'é'",
	} {
		if got := ShellQuote(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
