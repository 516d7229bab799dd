package console

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"rehome/cmd/internal/screen"
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
	return screen.Palette(IsTerminal(w))
}

func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width of the terminal w, or 80 if w is not a terminal.
func Columns(w io.Writer) int {
	if width, _, ok := terminalSize(w); ok {
		return width
	}
	return 80
}

// forceTerminal is the variable that gives a pipe the output of a terminal of a
// size: 80x24. It is for recordings, previews and tests.
const forceTerminal = "REHOME_FORCE_TTY"

// TerminalSize returns the columns and rows of stdout if it is a terminal, or is to
// be treated like one.
func (o *Output) TerminalSize() (width, height int, ok bool) {
	if n, _ := fmt.Sscanf(o.Getenv(forceTerminal), "%dx%d", &width, &height); n == 2 && width > 0 && height > 0 {
		return width, height, true
	}
	return terminalSize(o.Stdout)
}

// terminalSize returns the columns and rows of the terminal w. It reports whether
// w is a terminal that has a size.
func terminalSize(w io.Writer) (width, height int, ok bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return width, height, err == nil && width > 0 && height > 0
}
