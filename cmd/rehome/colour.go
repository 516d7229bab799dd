package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"rehome/cmd/rehome/internal/screen"
)

// palette paints words, or leaves them alone.
type palette bool

// choosePalette decides for one stream: the flag, then FORCE_COLOR, NO_COLOR,
// TERM=dumb, and last whether a person is looking.
func choosePalette(mode string, getenv func(string) string, w io.Writer) palette {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	if force := getenv("FORCE_COLOR"); force != "" {
		return force != "0"
	}
	if getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	return palette(isTerminal(w))
}

func (p palette) strong(s string) string { return screen.Palette(p).Strong(s) }
func (p palette) faint(s string) string  { return screen.Palette(p).Faint(s) }
func (p palette) red(s string) string    { return screen.Palette(p).Red(s) }
func (p palette) green(s string) string  { return screen.Palette(p).Green(s) }
func (p palette) yellow(s string) string { return screen.Palette(p).Yellow(s) }
func (p palette) cyan(s string) string   { return screen.Palette(p).Cyan(s) }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns is the width of the terminal behind a stream; 80 if there is none.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}
