package console

import (
	"errors"
	"os"
	"runtime"

	"rehome/formats"
)

// Machine returns the description of this machine.
func Machine(getenv func(string) string) formats.Machine {
	return formats.Machine{OS: runtime.GOOS, Home: getenv(HomeVariable()), Getenv: getenv}
}

func HomeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

func NoHomeError(hint string) error {
	return &formats.Error{At: "$" + HomeVariable(), Err: errors.New("not set"), Hint: hint}
}

// Exists reports whether there is something at path, even if it cannot be accessed.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil || !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrInvalid)
}

// WorkingDirs returns the working directory as a candidate for the folder of a
// session, or nil if it is unknown.
func WorkingDirs() []string {
	wd, err := os.Getwd()
	if err != nil {
		return nil
	}
	return []string{wd}
}
