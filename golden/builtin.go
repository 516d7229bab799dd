package golden

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// builtin is a command that every case can use.
func builtin(name string) Command {
	switch name {
	case "ls":
		return list
	case "cat":
		return each(func(c Call, path string) error {
			data, err := os.ReadFile(path)
			c.Stdout.Write(data)
			return err
		})
	case "mkdir":
		return each(func(_ Call, path string) error { return os.MkdirAll(path, 0o755) })
	case "rm":
		return each(func(_ Call, path string) error { return os.RemoveAll(path) })
	case "cp":
		return two(func(_ Call, from, to string) error { return cp(from, to) })
	case "write":
		return two(func(_ Call, path, text string) error { return place(path, []byte(text)) })
	case "same":
		return two(same)
	}
	return nil
}

// each returns a command that does the same with every argument.
func each(do func(c Call, path string) error) Command {
	return func(c Call) int {
		for _, path := range c.Args {
			if err := do(c, path); err != nil {
				return told(c, err)
			}
		}
		return 0
	}
}

// two returns a command with two arguments.
func two(do func(c Call, a, b string) error) Command {
	return func(c Call) int {
		if len(c.Args) != 2 {
			return told(c, errors.New("two arguments are wanted"))
		}
		return told(c, do(c, c.Args[0], c.Args[1]))
	}
}

func told(c Call, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(c.Stderr, err)
	return 1
}

// list prints the files of a folder, one a line; an empty folder ends in a
// slash.
func list(c Call) int {
	root := "."
	if len(c.Args) > 0 {
		root = c.Args[0]
	}
	names, err := walk(root)
	for _, n := range names {
		fmt.Fprintln(c.Stdout, n)
	}
	return told(c, err)
}

// walk names the files below a path with slashes, in order.
func walk(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !d.IsDir() {
			names = append(names, rel)
			return nil
		}
		entries, err := os.ReadDir(path)
		if len(entries) == 0 && err == nil {
			names = append(names, rel+"/")
		}
		return err
	})
	return names, err
}

func cp(from, to string) error {
	names, err := walk(from)
	if err != nil {
		return err
	}
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(from, n))
		if err != nil {
			return err
		}
		if err := place(filepath.Join(to, n), data); err != nil {
			return err
		}
	}
	return nil
}

func place(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// same compares two files or two folders byte for byte.
func same(c Call, a, b string) error {
	left, err := walk(a)
	if err != nil {
		return err
	}
	right, err := walk(b)
	if err != nil {
		return err
	}
	if !slices.Equal(left, right) {
		return fmt.Errorf("not the same files: %q, %q", left, right)
	}
	for _, n := range left {
		x, err := os.ReadFile(filepath.Join(a, n))
		if err != nil {
			return err
		}
		y, err := os.ReadFile(filepath.Join(b, n))
		if err != nil {
			return err
		}
		if !bytes.Equal(x, y) {
			return fmt.Errorf("%s: not the same", n)
		}
	}
	fmt.Fprintln(c.Stdout, "the same")
	return nil
}
