package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"rehome/cmd/rehome/internal/screen"
)

// choosePalette decides whether to color one stream: by the flag, then by
// FORCE_COLOR, NO_COLOR and TERM=dumb, and finally by whether it is a terminal.
func choosePalette(mode string, getenv func(string) string, w io.Writer) screen.Palette {
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
	return screen.Palette(isTerminal(w))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns returns the width of the terminal w, or 80 if w is not a terminal.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}
