package shell

import "testing"

func TestPOSIX(t *testing.T) {
	for word, want := range map[string]string{
		"/home/ann/app-1.x": "/home/ann/app-1.x", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x;`y`\n": "$'$x;`y`\\012'", "a\xff'\\": `$'a\377\047\134'`, "\u202e": `$'\342\200\256'`, "~/x": "'~/x'", "/a:~/x": "'/a:~/x'", "store.db#1a": "store.db#1a", "#x": "'#x'", "=x": "'=x'", "é": "'é'",
	} {
		if got := POSIX(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

func TestPowerShell(t *testing.T) {
	for word, want := range map[string]string{
		`C:\Users\ann\app_1`: `C:\Users\ann\app_1`, "--resume": "--resume", "": "''", `C:\a b$x`: `'C:\a b$x'`, "it's": `"it$([char]0x27)s"`, "\u2019": `"$([char]0x2019)"`, "\u202e$x": `"$([char]0x202e)$([char]0x24)x"`, "😀\u200b": `"$([char]0xd83d)$([char]0xde00)$([char]0x200b)"`,
	} {
		if got := powerShell(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
