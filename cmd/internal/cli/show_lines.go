package cli

import (
	"bufio"
	"errors"
	"io"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// writeLines writes a session as canonical lines. Characters that are unsafe on
// a terminal are written as JSON escapes, which keeps the values equal.
func writeLines(w io.Writer, s *session.Session, live bool) error {
	out := bufio.NewWriter(w)
	var buf []byte
	put := func(line []byte) error {
		buf = line
		out.Write(screen.JSON(line))
		err := out.WriteByte('\n')
		if live && err == nil {
			err = out.Flush()
		}
		return err
	}
	begun := false
	begin := func() error {
		if begun {
			return nil
		}
		begun = true
		return put(session.AppendHead(buf[:0], s))
	}
	for m, err := range s.Messages {
		if err == nil {
			err = begin()
		}
		if err == nil {
			err = put(session.AppendMessage(buf[:0], m))
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
	}
	if err := begin(); err != nil {
		return err
	}
	if s.Files != nil {
		for f, err := range s.Files {
			if err == nil {
				err = put(session.AppendFile(buf[:0], f))
			}
			if err != nil {
				return errors.Join(err, out.Flush())
			}
		}
	}
	return out.Flush()
}
