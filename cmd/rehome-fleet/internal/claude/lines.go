package claude

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"rehome/formats"
	"rehome/formats/loss"
)

// read calls yield with the entries of a transcript. The file that describes a subagent becomes
// its last entry, as in the SDK's own import.
func (s *source) read(ctx context.Context, t *transcript, report bool, yield func(entry) error) error {
	one := func(b []byte, at string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, ok := inspect(b)
		if !ok {
			if report {
				s.lost.add(loss.ServerLine, at)
			}
			return nil
		}
		if why := s.refuse(e.traits); why != "" {
			return &formats.Error{At: s.at(at), Err: errors.New(why), Hint: "keep the entries in a column of type json, or in Redis or S3, which hold them as they are"}
		}
		for _, code := range s.change(e.traits) {
			if report {
				s.lost.add(code, at)
			}
		}
		return yield(e)
	}
	if t.Lines != "" {
		if err := s.lines(t.Lines, one); err != nil {
			return err
		}
	}
	if t.Meta == "" {
		return nil
	}
	b, err := s.small(t.Meta)
	if err != nil {
		return err
	}
	b, ok := asEntry(b)
	if !ok {
		if report {
			s.lost.add(loss.ServerDescription, t.Meta)
		}
		return nil
	}
	return one(b, t.Meta)
}

// lines calls yield with each line of a file that is not blank.
func (s *source) lines(name string, yield func(b []byte, at string) error) error {
	f, err := s.root.Open(name)
	if err != nil {
		return &formats.Error{At: s.at(name), Err: formats.Cause(err)}
	}
	defer f.Close()
	r, line := bufio.NewReaderSize(f, 1<<16), []byte(nil)
	for n := 1; ; n++ {
		line, err = readLine(r, line[:0])
		at := fmt.Sprintf("%s:%d", name, n)
		if err != nil && !errors.Is(err, io.EOF) {
			return &formats.Error{At: s.at(at), Err: formats.Cause(err)}
		}
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			if err := yield(trimmed, at); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// readLine appends a line to b, with its newline. At the end it returns io.EOF, with the rest.
func readLine(r *bufio.Reader, b []byte) ([]byte, error) {
	for {
		more, err := r.ReadSlice('\n')
		if b = append(b, more...); len(b) > maxLine {
			return b, fmt.Errorf("a line longer than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b, err
		}
	}
}

// small returns the contents of the description of a subagent.
func (s *source) small(name string) ([]byte, error) {
	f, err := s.root.Open(name)
	if err != nil {
		return nil, &formats.Error{At: s.at(name), Err: formats.Cause(err)}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxLine+1))
	if err == nil && len(b) > maxLine {
		err = fmt.Errorf("longer than %d MiB", maxLine>>20)
	}
	if err != nil {
		return nil, &formats.Error{At: s.at(name), Err: formats.Cause(err)}
	}
	return b, nil
}
