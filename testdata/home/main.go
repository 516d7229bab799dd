// Command home gives the project its public address: the module path, the
// addresses in documents, packages and the action, and the ids of the schemas.
//
//	go run ./testdata/home -repo example.com/owner/name
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	log.SetFlags(0)
	repo := flag.String("repo", "", "the address: host/owner/name")
	root := flag.String("root", ".", "the checkout to change")
	flag.Parse()
	left, err := move(*root, *repo)
	if err != nil {
		log.Fatal("home: ", err)
	}
	for _, l := range left {
		log.Print("home: left behind: ", l)
	}
	if len(left) > 0 {
		os.Exit(1)
	}
}

// change is one way in which the project names itself.
type change struct {
	what *regexp.Regexp
	with string // HOST, OWNER and NAME are the parts of the address
}

// changes stand in the order in which they are made.
func changes() []change {
	list := []struct{ what, with string }{
		{`(?m)^module rehome\b`, `module HOST/OWNER/NAME`},
		{`(?m)^(\t|replace )rehome( v0\.0\.0$| => \.\.)`, `${1}HOST/OWNER/NAME${2}`},
		{`(^|[^\w./-])rehome/(cmd|formats|convert|internal|schemas|golden|testdata)\b`, `${1}HOST/OWNER/NAME/${2}`},
		{`const house = "rehome/"`, `const house = "HOST/OWNER/NAME/"`},
		{`urn:rehome:schema:`, `https://HOST/OWNER/NAME/schemas/`},
		{`\bHOST/OWNER/rehome\b`, `HOST/OWNER/NAME`},
		{`\bOWNER/rehome\b`, `OWNER/NAME`},
		{`\bowner: OWNER\b`, `owner: OWNER`},
		{`rehome@HOST\.invalid`, `rehome@HOST`},
		{`@rehome/`, `@OWNER/rehome-`},
	}
	var out []change
	for _, c := range list {
		out = append(out, change{regexp.MustCompile(c.what), c.with})
	}
	return out
}

// placeholders must not be there any more.
var placeholders = regexp.MustCompile(`(?m)\bOWNER/|/OWNER\b|owner: OWNER|HOST\.invalid|urn:rehome:schema|^module rehome\b|^replace rehome\b|"rehome/(cmd|formats|convert|internal|schemas|golden|testdata)`)

// kept is text that says what it says for ever, and this program.
func kept(name string) bool {
	return strings.HasPrefix(name, "golden/compat/") || strings.HasPrefix(name, "testdata/home/")
}

// move rewrites every file that git tracks, and returns the lines that still
// hold a placeholder.
func move(root, repo string) (left []string, err error) {
	parts := strings.Split(repo, "/")
	if len(parts) != 3 || !strings.Contains(parts[0], ".") || parts[1] == "" || parts[2] == "" {
		return nil, fmt.Errorf("%q: the address is host/owner/name", repo)
	}
	names, err := tracked(root)
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("HOST", parts[0], "OWNER", parts[1], "NAME", parts[2])
	all := changes()
	for i := range all {
		all[i].with = fill.Replace(all[i].with)
	}
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || kept(name) {
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte(old, 0) >= 0 {
			continue
		}
		text := old
		for _, c := range all {
			text = c.what.ReplaceAll(text, []byte(c.with))
		}
		if !bytes.Equal(old, text) {
			if err := os.WriteFile(path, text, info.Mode().Perm()); err != nil {
				return nil, err
			}
		}
		for n, line := range strings.Split(string(text), "\n") {
			if placeholders.MatchString(line) {
				left = append(left, fmt.Sprintf("%s:%d: %s", name, n+1, strings.TrimSpace(line)))
			}
		}
	}
	return left, nil
}

func tracked(root string) ([]string, error) {
	c := exec.Command("git", "ls-files", "-z")
	c.Dir, c.Stderr = root, os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"), nil
}
