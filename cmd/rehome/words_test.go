package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"rehome/golden"
)

// retired are phrases that plain English has better words for.
const retired = `(?i)\b(is|are|that is|where it is) none\b|stay(s|ed)? home|gone on with|goes on with|go on with|went back on|in the place of|says nothing|\bheard\b|\bmend:|\blane\b|what came of|said and done|comes through a pipe|held against|where there is none|\bthe house\b|\bin the books\b|is no (\w+ )?(file|folder|path|date|store|client)\b`

// TestPlainWords reads every page of help, the manual, the demo and the guides
// that are written for people who are new.
func TestPlainWords(t *testing.T) {
	pages := map[string]string{}
	for _, n := range commands(model()) {
		pages[n.Name+" --help"], _, _ = call(t, n.Name, "--help")
	}
	pages["--help"], _, _ = call(t, "--help")
	pages["man"], _, _ = call(t, "man")
	root := filepath.Dir(golden.Path(t, ""))
	for _, name := range []string{"README.md", "docs/recipes.md", "docs/formats.md", "docs/performance.md", "docs/command-line.md", "golden/demo.txt"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	phrase := regexp.MustCompile(retired)
	for name, text := range pages {
		if name == "README.md" { // the report in it is worded elsewhere
			text = regexp.MustCompile("(?s)<!-- transcript.*?<!-- end -->").ReplaceAllString(text, "")
		}
		for _, found := range phrase.FindAllString(text, -1) {
			t.Errorf("%s says %q", name, found)
		}
	}
}
