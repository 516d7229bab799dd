package stage

import (
	"strings"

	"rehome/formats"
)

// Full returns an error that says where a disk is full, and what to do about it. An error of
// another kind is returned as it is.
func Full(err error, at, hint string) error {
	if !DiskFull(err) {
		return err
	}
	return &formats.Error{At: at, Err: fullError{err}, Hint: hint}
}

// fullError puts the same plain words before the many wordings of systems. It is still the
// error of the system for errors.Is.
type fullError struct{ error }

func (e fullError) Error() string {
	const full = "the disk is full"
	s := e.error.Error()
	switch {
	case strings.Contains(s, formats.StagingMark): // a path of ours tells the user nothing
		return full
	case strings.Contains(s, "disk is full"):
		return s
	}
	return full + ": " + s
}

func (e fullError) Unwrap() error { return e.error }
