package repo

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path"

	"rehome/formats"
)

// Drive merges a file that both sides of a merge changed, for git: base and theirs are
// temporary files, and so is ours, which becomes the result. A session in a file of lines
// that one side has continued becomes the longer one. Everything else is an error, and ours
// stays as it is: what is in several files can only be merged by Finish, which has them all.
// So the result is always what one of the sides has.
func Drive(base, ours, theirs, name string) error {
	longer, err := longest(base, ours, theirs, name)
	if err != nil || longer == ours {
		return err
	}
	from, err := os.Open(theirs)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(ours, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	size, err := to.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = from.Seek(size, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(to, from) // theirs begins with ours
	}
	if err != nil {
		err = errors.Join(err, to.Truncate(size))
	}
	return errors.Join(err, to.Close())
}

// longest returns the side that continues the other one.
func longest(base, ours, theirs, name string) (string, error) {
	if continues(ours, theirs) && continues(theirs, ours) {
		return ours, nil
	}
	if path.Ext(name) == ".jsonl" && continues(ours, base) && continues(theirs, base) {
		switch {
		case continues(ours, theirs):
			return ours, nil
		case continues(theirs, ours):
			return theirs, nil
		}
	}
	return "", &formats.Error{At: name, Err: errors.New("changed on both sides, and left as it is on yours: run `rehome merge --finish`")}
}

// continues reports whether a file has the lines of another one, and more or no more.
func continues(long, short string) bool {
	a, err := os.Open(long)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := os.Open(short)
	if err != nil {
		return false
	}
	defer b.Close()
	x, y := bufio.NewReaderSize(a, 64<<10), bufio.NewReaderSize(b, 64<<10)
	last := byte('\n')
	for {
		c, err := y.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		d, derr := x.ReadByte()
		if err != nil || derr != nil || c != d {
			return false
		}
		last = c
	}
	_, err = x.ReadByte()
	return last == '\n' || errors.Is(err, io.EOF)
}
