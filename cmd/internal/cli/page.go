package cli

import "rehome/cmd/internal/screen"

// page is what results are printed on: a screen.Page with helpers that several
// results share.
type page struct {
	*screen.Page
	self Program // whose commands hints name
}

// directions returns how a format can be used: in, out, both or "-".
func directions(in, out bool) screen.Safe {
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

// supported returns "yes" or "-".
func supported(can bool) screen.Safe {
	if can {
		return "yes"
	}
	return "-"
}

func visible(s string) screen.Safe                 { return screen.Visible(s) }
func plural(n int64, noun screen.Safe) screen.Safe { return screen.Plural(n, noun) }
func grouped(n int64) screen.Safe                  { return screen.Grouped(n) }
func size(n int64) screen.Safe                     { return screen.Size(n) }
