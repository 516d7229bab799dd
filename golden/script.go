package golden

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Call is one command line of a case.
type Call struct {
	Args   []string // without the command's name
	Env    map[string]string
	Stdout io.Writer
	Stderr io.Writer
}

// Command runs in the case's folder and returns an exit code.
type Command func(Call) int

// Scripts runs the command cases that match a pattern below golden/, each as a
// subtest in a new folder that setup has filled.
//
// A case is a transcript. Lines that begin with one of these are the script:
//
//	# a remark
//	## a remark for readers of the docs that show the script
//	$ NAME=value command args   run a command; quotes as in Go: "a b\x1b"
//	! exists PATH               nothing may be at the path
//
// and the rest is the result: stdout after "|", stderr after "2|", and
// "exit N" if N is not 0. Besides the commands given there are ls, cat, cp,
// mkdir, rm, write and same, which can do just what the cases need. The path of
// the case's folder is printed as $WORK, and as $SLUG where a client names a
// folder of its own after it.
func Scripts(t *testing.T, pattern string, commands map[string]Command, setup func(t *testing.T, dir string)) {
	t.Helper()
	list, err := filepath.Glob(Path(t, pattern))
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: no case found (%v)", pattern, err)
	}
	for _, path := range list {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			setup(t, dir)
			got := play(t, string(script), dir, commands)
			compare(t, filepath.Base(path), path, []byte(got))
		})
	}
}

// play runs a script and returns the transcript.
func play(t *testing.T, script, dir string, commands map[string]Command) string {
	t.Helper()
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimRight(script, "\n"), "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "# "), strings.HasPrefix(line, "## "):
			out.WriteString(line + "\n")
		case strings.HasPrefix(line, "! exists "):
			out.WriteString(line + "\n")
			if _, err := os.Lstat(strings.TrimPrefix(line, "! exists ")); err == nil {
				t.Errorf("line %d: %s: it does exist", i+1, line)
			}
		case strings.HasPrefix(line, "$ "):
			out.WriteString(line + "\n")
			out.WriteString(runLine(t, i+1, line[2:], dir, commands))
		case strings.HasPrefix(line, "|"), strings.HasPrefix(line, "2|"), strings.HasPrefix(line, "exit "):
		default:
			t.Fatalf("line %d: %q is neither script nor output", i+1, line)
		}
	}
	return out.String()
}

func runLine(t *testing.T, n int, line, dir string, commands map[string]Command) string {
	t.Helper()
	words, err := split(line)
	if err != nil {
		t.Fatalf("line %d: %v", n, err)
	}
	var stdout, stderr bytes.Buffer
	call := Call{Env: map[string]string{}, Stdout: &stdout, Stderr: &stderr}
	for len(words) > 0 && strings.Contains(words[0], "=") {
		name, value, _ := strings.Cut(words[0], "=")
		call.Env[name] = value
		words = words[1:]
	}
	if len(words) == 0 {
		t.Fatalf("line %d: no command", n)
	}
	call.Args = words[1:]
	command := commands[words[0]]
	if command == nil {
		command = builtin(words[0])
	}
	if command == nil {
		t.Fatalf("line %d: no command is named %q", n, words[0])
	}
	code := command(call)
	var out strings.Builder
	quote(&out, "|", stdout.String(), dir)
	quote(&out, "2|", stderr.String(), dir)
	if code != 0 {
		fmt.Fprintf(&out, "exit %d\n", code)
	}
	return out.String()
}

// quote writes output into a transcript; a last line without a newline is marked.
func quote(w *strings.Builder, mark, s, dir string) {
	if s == "" {
		return
	}
	s = strings.ReplaceAll(s, dir, "$WORK")
	s = strings.ReplaceAll(s, slug(dir), "$SLUG")
	body, whole := strings.CutSuffix(s, "\n")
	for _, l := range strings.Split(body, "\n") {
		w.WriteString(strings.TrimRight(mark+" "+l, " ") + "\n")
	}
	if !whole {
		w.WriteString(mark + `\ no line end` + "\n")
	}
}

// slug is a path as clients make it part of a name.
func slug(path string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, path)
}

// split splits a line at blanks; a word, or the value after its "=", may
// be quoted as in Go.
func split(line string) ([]string, error) {
	var words []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		end := strings.IndexAny(line, " \"")
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		if line = line[end:]; strings.HasPrefix(line, `"`) {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			value, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			word, line = word+value, line[len(quoted):]
		}
		words = append(words, word)
	}
	return words, nil
}
