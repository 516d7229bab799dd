package main

import "rehome/cmd/rehome/internal/screen"

// page is what a result is written on: the lines of screen.Page, and what
// several results have in common.
type page struct{ *screen.Page }

// ways says whether something comes in, goes out, or both.
func ways(in, out bool) screen.Safe {
	switch {
	case in && out:
		return "in, out"
	case in:
		return "in"
	case out:
		return "out"
	}
	return "-"
}

// yes says whether something can be done.
func yes(can bool) screen.Safe {
	if can {
		return "yes"
	}
	return "-"
}

func visible(s string) screen.Safe               { return screen.Visible(s) }
func many(n int64, noun screen.Safe) screen.Safe { return screen.Many(n, noun) }
func grouped(n int64) screen.Safe                { return screen.Grouped(n) }
func size(n int64) screen.Safe                   { return screen.Size(n) }
