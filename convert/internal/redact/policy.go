package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unicode/utf8"

	"rehome/formats"
)

// File is the name of the file that lists words and patterns.
const File = ".rehomeredact"

// Policy is what to redact besides secrets.
type Policy struct {
	Words    []string
	Patterns []*regexp.Regexp
	Paths    bool   // the names of home folders
	Key      []byte // of the placeholders; nil: they are counted
}

// Bounds of the files that a Policy is read from.
const (
	maxFile    = 256 << 10
	maxEntries = 10_000
	minKey     = 16
)

// ReadFile adds the entries of a file: one word on each line, or a pattern between
// slashes. Lines that begin with # are comments.
func (p *Policy) ReadFile(path string) error {
	text, err := readSmall(path)
	if err != nil {
		return &formats.Error{At: path, Err: err, Hint: "name a text file of words, one on each line"}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as editors write it
	for n, line := range strings.Split(string(text), "\n") {
		if err := p.add(strings.TrimSpace(line)); err != nil {
			return &formats.Error{At: fmt.Sprintf("%s:%d", path, n+1), Err: err, Hint: "write a word on each line, or a pattern between slashes, such as /ACME-[0-9]+/"}
		}
	}
	return nil
}

// flags are patterns as other programs spell them. Taken as a word, they would match nothing.
var flags = regexp.MustCompile(`^/.+/[gimsuxy]{1,3}$`)

// add adds the entry on a line. An error does not contain it.
func (p *Policy) add(line string) error {
	switch {
	case line == "" || line[0] == '#':
		return nil
	case !utf8.ValidString(line):
		return errors.New("not UTF-8")
	case len(p.Words)+len(p.Patterns) == maxEntries:
		return fmt.Errorf("more than %d entries", maxEntries)
	case len(line) > 1 && line[0] == '/' && line[len(line)-1] == '/':
		re, err := regexp.Compile("(?m:" + line[1:len(line)-1] + ")")
		if err != nil {
			return errors.New("invalid pattern")
		}
		if re.MatchString("") {
			return errors.New("pattern matches empty text")
		}
		for _, one := range re.FindAllString(anyPlaceholder, -1) {
			if len(one) >= gram {
				return errors.New("pattern matches placeholders, such as " + anyPlaceholder)
			}
		}
		p.Patterns = append(p.Patterns, re)
		return nil
	case flags.MatchString(line):
		return errors.New("flags after a pattern; write /(?i)acme/ to ignore case")
	case len(normal(nil, []byte(line))) < gram:
		return fmt.Errorf("word of less than %d letters, which would match everywhere", gram)
	}
	p.Words = append(p.Words, line)
	return nil
}

const anyPlaceholder = "redacted-" + patternKind + "-1"

// ReadKey reads the key of the placeholders. Only its owner may be able to read it.
func (p *Policy) ReadKey(path string) error {
	refuse := func(err error, hint string) error { return &formats.Error{At: path, Err: err, Hint: hint} }
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return refuse(errors.New("others can read this key"), "run: chmod 600 "+path)
	}
	if err == nil {
		p.Key, err = readSmall(path)
	}
	if err != nil {
		return refuse(formats.Cause(err), "create one: head -c 32 /dev/urandom > "+path)
	}
	if len(p.Key) < minKey {
		return refuse(fmt.Errorf("a key of %d bytes is too short", len(p.Key)), fmt.Sprintf("use at least %d random bytes: head -c 32 /dev/urandom > %s", minKey, path))
	}
	return nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("larger than %d KB", maxFile>>10)
	}
	return text, err
}

// Files returns the files of entries that apply to a folder: its own and, in a git work
// tree, those of the folders above it up to the root.
func Files(dir string) (out []string) {
	above := ancestors(dir)
	for _, d := range above {
		if info, err := os.Stat(filepath.Join(d, File)); err == nil && info.Mode().IsRegular() {
			out = append(out, filepath.Join(d, File))
		}
	}
	return out
}

// ancestors returns a folder and, in a work tree, those above it up to the root.
func ancestors(dir string) []string {
	all := []string{dir}
	for d := dir; ; d = filepath.Dir(d) {
		if d != dir {
			all = append(all, d)
		}
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return all
		}
		if filepath.Dir(d) == d {
			return all[:1]
		}
	}
}
