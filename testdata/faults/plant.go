package faults

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Plant does to the sample in a folder what the fault says. The caller has to
// have the driver "sqlite" registered.
func (f *Fault) Plant(dir string) error {
	for _, step := range f.Steps {
		if err := plant(dir, step); err != nil {
			return fmt.Errorf("%q: %w", step, err)
		}
	}
	return nil
}

// plant does one step: a verb, what it is done to, and, behind a colon, how.
func plant(dir, step string) error {
	head, how, _ := strings.Cut(step, ": ")
	verb, name, _ := strings.Cut(head, " ")
	name, line, _ := strings.Cut(name, ":")
	path := filepath.Join(dir, filepath.FromSlash(name))
	if strings.Contains(name, "*") { // long names of folders
		if found, _ := filepath.Glob(path); len(found) == 1 {
			path = found[0]
		}
	}
	switch verb {
	case "sql":
		return execute(path, how)
	case "delete":
		return os.RemoveAll(path)
	case "rename":
		return os.Rename(path, filepath.Join(filepath.Dir(path), filepath.FromSlash(how)))
	case "link":
		return os.Symlink(filepath.FromSlash(how), path)
	case "pipe":
		return pipe(path)
	case "conflict":
		return conflict(dir, name)
	case "mkdir":
		return os.MkdirAll(path, 0o777)
	case "grow": // with zero bytes, which take no room on most disks
		size, err := strconv.ParseInt(how, 10, 64)
		if info, serr := os.Stat(path); err != nil || serr != nil || size <= info.Size() {
			return fmt.Errorf("it does not grow to %s bytes", how)
		}
		return os.Truncate(path, size)
	case "write":
		b, err := content(how)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o666)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b, err = edit(b, verb, line, how)
	if err != nil {
		return err
	}
	if verb == "copy" {
		path = filepath.Join(filepath.Dir(path), filepath.FromSlash(how))
	}
	return os.WriteFile(path, b, 0o666)
}

func execute(path, statement string) error {
	if _, err := os.Stat(path); err != nil {
		return err // SQLite would make it
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := db.Exec(statement)
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(strings.ToLower(statement), " ")
	if n, err := r.RowsAffected(); err == nil && n == 0 && (first == "update" || first == "delete" || first == "insert") {
		return fmt.Errorf("it changes nothing")
	}
	return nil
}

// edit changes the bytes of a file.
func edit(b []byte, verb, line, how string) ([]byte, error) {
	switch verb {
	case "copy":
		return b, nil
	case "crlf":
		return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")), nil
	case "append":
		more, err := content(how)
		return append(b, more...), err
	case "truncate":
		n, err := strconv.Atoi(how)
		if n < 0 {
			n += len(b)
		}
		if err != nil || n < 0 || n >= len(b) {
			return nil, fmt.Errorf("no size below %d", len(b))
		}
		return b[:n], nil
	case "bytes":
		at, text, _ := strings.Cut(how, " ")
		offset, err := strconv.Atoi(at)
		if err != nil {
			return nil, err
		}
		with, err := content(text)
		if offset < 0 {
			offset += len(b)
		}
		if err != nil || offset < 0 || offset+len(with) > len(b) {
			return nil, fmt.Errorf("cannot overwrite there: %w", err)
		}
		if bytes.Equal(b[offset:offset+len(with)], with) {
			return nil, fmt.Errorf("it changes nothing")
		}
		copy(b[offset:], with)
		return b, nil
	case "line":
		return editLine(b, line, how)
	}
	return nil, fmt.Errorf("no step is named %q", verb)
}

// editLine changes one line of a text.
func editLine(b []byte, number, how string) ([]byte, error) {
	lines := strings.SplitAfter(string(b), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	n, err := strconv.Atoi(number)
	verb, rest, _ := strings.Cut(how, " ")
	if err != nil || n < 1 || n > len(lines) && !(verb == "insert" && n == len(lines)+1) {
		return nil, fmt.Errorf("there is no line %s in %d", number, len(lines))
	}
	switch at := n - 1; verb {
	case "replace":
		old, now, _ := strings.Cut(rest, " => ")
		from, err := unquoted(old)
		if err != nil {
			return nil, err
		}
		to, err := unquoted(now)
		if err != nil || !strings.Contains(lines[at], from) {
			return nil, fmt.Errorf("line %d does not hold %q (%w)", n, from, err)
		}
		lines[at] = strings.Replace(lines[at], from, to, 1)
	case "set", "insert":
		text, err := unquoted(rest)
		if err != nil {
			return nil, err
		}
		if verb == "set" {
			lines[at] = text + "\n"
		} else {
			lines = append(lines[:at], append([]string{text + "\n"}, lines[at:]...)...)
		}
	case "delete":
		lines = append(lines[:at], lines[at+1:]...)
	case "repeat":
		lines = append(lines[:at+1], lines[at:]...)
	default:
		return nil, fmt.Errorf("nothing called %q is done to a line", verb)
	}
	return []byte(strings.Join(lines, "")), nil
}

// content is hex, or a quoted text.
func content(s string) ([]byte, error) {
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.Unquote(s)
		return []byte(text), err
	}
	return hex.DecodeString(s)
}

// unquoted is a text as it stands, or what a text that ends in a quote too
// stands for. JSON begins with a quote as well, so both are looked at.
func unquoted(s string) (string, error) {
	if len(s) > 1 && strings.HasPrefix(s, `"`) && strings.HasSuffix(s, `"`) {
		return strconv.Unquote(s)
	}
	return s, nil
}
