// Command changelog gathers the files of .changes into CHANGELOG.md, under the
// heading of a release, and deletes them. What is there under that heading
// already, or under "Unreleased", stays.
//
//	go run ./testdata/changelog -version 0.1.0 -date 2026-11-22
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	version := flag.String("version", "", "the version that is released")
	date := flag.String("date", "", "its date, as 2026-11-22")
	root := flag.String("root", ".", "the checkout")
	flag.Parse()
	if err := release(*root, *version, *date); err != nil {
		log.Fatal("changelog: ", err)
	}
}

// kinds are the first words of a file of .changes, and their headings.
var kinds = []struct{ word, heading string }{
	{"changed", "Changed"}, {"added", "Added"}, {"fixed", "Fixed"}, {"removed", "Removed"},
}

func release(root, version, date string) error {
	if version == "" || date == "" {
		return fmt.Errorf("a version and a date are needed")
	}
	files, err := filepath.Glob(filepath.Join(root, ".changes", "*.md"))
	if err != nil {
		return err
	}
	entries := map[string][]string{}
	var gone []string
	for _, path := range files {
		if filepath.Base(path) == "README.md" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		word, text, ok := strings.Cut(strings.TrimSpace(string(data)), ":")
		if !ok || heading(word) == "" {
			return fmt.Errorf("%s: it has to begin with changed, added, fixed or removed and a colon", path)
		}
		entries[word] = append(entries[word], "- "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  "))
		gone = append(gone, path)
	}
	path := filepath.Join(root, "CHANGELOG.md")
	log, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, _ := strings.Cut(string(log), "\n## ")
	title, body, _ := strings.Cut(rest, "\n")
	if title != "Unreleased" && title != version && !strings.HasPrefix(title, version+" ") {
		body, rest = "", "\n## "+rest // it is an earlier release
	} else if body, rest, _ = strings.Cut(body, "\n## "); rest != "" {
		rest = "\n## " + rest
	}
	for _, k := range kinds {
		if len(entries[k.word]) > 0 {
			body = added(body, "### "+k.heading, strings.Join(entries[k.word], "\n"))
		}
	}
	text := fmt.Sprintf("%s\n\n## %s (%s)\n\n%s\n%s", strings.TrimRight(head, "\n"), version, date, strings.TrimSpace(body), rest)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	for _, path := range gone {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// added puts a list under its heading, behind what is there already.
func added(body, heading, list string) string {
	before, after, ok := strings.Cut(body, heading+"\n")
	if !ok {
		return strings.TrimSpace(body) + "\n\n" + heading + "\n\n" + list + "\n"
	}
	old, next, more := strings.Cut(after, "\n### ")
	if more {
		next = "\n\n### " + next
	}
	return before + heading + "\n\n" + strings.TrimSpace(old) + "\n" + list + next
}

func heading(word string) string {
	for _, k := range kinds {
		if k.word == word {
			return k.heading
		}
	}
	return ""
}
