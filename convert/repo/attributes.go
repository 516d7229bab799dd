package repo

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/stage"
	"rehome/formats"
)

// pattern returns the pattern of a file and of those with the same ending in and below
// the topmost folder that it is in.
func pattern(rel string) string {
	name := path.Base(rel)
	if ext := strings.Index(name, "."); ext > 0 && !strings.HasSuffix(name, ".db") && !strings.HasSuffix(name, ".vscdb") {
		name = "*" + escape(name[ext:])
	} else if ext != 0 {
		name = escape(name)
	}
	dir, _, inner := strings.Cut(rel, "/")
	if !inner {
		return quote("/" + escape(rel))
	}
	return quote("/" + escape(dir) + "/**/" + name)
}

// whole returns the lines for all files of a store in a folder.
func whole(rel string) []string {
	at := "/**"
	if rel != "." {
		at = "/" + escape(rel) + "/**"
	}
	return []string{quote(at) + " diff=" + driver, quote(at) + " merge=" + driver}
}

// escape makes a name stand for itself in a pattern.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

// quote quotes a pattern as git does, if it must be.
func quote(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f }) < 0 {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// block returns the lines of Setup in the attributes, and the text around them.
func (r *Repo) block() (before string, lines []string, after string, err error) {
	text, err := os.ReadFile(filepath.Join(r.top, attributes))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, "", nil
	}
	before, rest, found := strings.Cut(string(text), begin+"\n")
	if err != nil || !found {
		return before, nil, "", err
	}
	inner, after, found := strings.Cut(rest, end+"\n")
	if !found {
		return "", nil, "", &formats.Error{At: attributes, Err: errors.New("the line that ends the part of rehome is missing"), Hint: "add it: " + end}
	}
	return before, strings.Split(strings.TrimSuffix(inner, "\n"), "\n"), after, nil
}

func (r *Repo) addAttributes(patterns []string, dry bool) ([]Change, error) {
	before, lines, after, err := r.block()
	if err != nil {
		return nil, err
	}
	var added []string
	for _, line := range patterns {
		if !slices.Contains(lines, line) {
			added = append(added, line)
		}
	}
	if len(added) == 0 {
		return nil, nil
	}
	if before != "" && !strings.HasSuffix(before, "\n") {
		before, lines = before+"\n", append([]string{noNewline}, lines...)
	}
	text := before + begin + "\n" + strings.Join(append(lines, added...), "\n") + "\n" + end + "\n" + after
	if !dry {
		err = stage.Overwrite(filepath.Join(r.top, attributes), []byte(text), 0o666)
	}
	return []Change{{attributes, Added, strings.Join(added, "\n")}}, err
}

func (r *Repo) removeAttributes(dry bool) ([]Change, error) {
	before, lines, after, err := r.block()
	if err != nil || lines == nil {
		return nil, err
	}
	at := filepath.Join(r.top, attributes)
	if lines[0] == noNewline {
		if lines = lines[1:]; after == "" {
			before = strings.TrimSuffix(before, "\n")
		}
	}
	switch {
	case dry:
	case before+after == "":
		err = os.Remove(at)
	default:
		err = stage.Overwrite(at, []byte(before+after), 0o666)
	}
	return []Change{{attributes, Removed, strings.Join(lines, "\n")}}, err
}
