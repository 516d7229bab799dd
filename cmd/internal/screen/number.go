package screen

import (
	"strconv"
	"time"
)

// Grouped formats a number in groups of three digits: 47,043.
func Grouped(n int64) Safe {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return Safe(s)
}

// Plural formats a count with its noun: 1 line, 2 lines.
func Plural(n int64, noun Safe) Safe {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(n) + " " + noun + "s"
}

// Size formats a number of bytes with decimal units: 312 B, 4.1 kB, 351 MB.
func Size(n int64) Safe {
	if n < 1000 {
		return Safe(strconv.FormatInt(n, 10)) + " B"
	}
	v := float64(n) / 1000
	for _, unit := range []Safe{"kB", "MB", "GB", "TB"} {
		switch {
		case v < 9.95:
			return Sprintf("%.1f %s", v, unit)
		case v < 999.5:
			return Sprintf("%.0f %s", v, unit)
		}
		v /= 1000
	}
	return Sprintf("%.0f PB", v)
}

// Duration formats a duration: 248 ms, 2.3 s, 3 min 5 s, 2 h 10 min.
func Duration(d time.Duration) Safe {
	switch {
	case d < time.Second:
		return Sprintf("%d ms", max(0, d.Milliseconds()))
	case d < time.Minute-50*time.Millisecond:
		return Sprintf("%.1f s", d.Seconds())
	case d < time.Hour-time.Second/2:
		s := int64(d.Round(time.Second) / time.Second)
		return Sprintf("%d min %d s", s/60, s%60)
	}
	m := int64(d.Round(time.Minute) / time.Minute)
	return Sprintf("%d h %d min", m/60, m%60)
}
