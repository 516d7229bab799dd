package lists

import (
	"math"
	"strconv"
	"time"

	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// StampOf reads a member that is a time: milliseconds, or ISO 8601 text.
func StampOf(f *members.Object, i int) session.Stamp {
	s, exact := Moment(f.Raw(i))
	if !exact {
		f.Keep(i)
	}
	return s
}

// Moment reads a time. exact reports that the value says no more than that.
func Moment(raw []byte) (s session.Stamp, exact bool) {
	switch {
	case len(raw) == 0 || members.Empty(raw):
		return s, true
	case raw[0] == '"':
		text := rawjson.Text(raw)
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return session.Stored(t.UnixMilli()), t.Nanosecond()%1e6 == 0
		}
		if ms, err := strconv.ParseInt(text, 10, 64); err == nil && epoch(float64(ms)) {
			return session.Stored(ms), true
		}
		return s, false
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !epoch(x) {
		return s, false
	}
	return session.Stored(int64(math.Floor(x))), x == math.Floor(x)
}

// epoch reports whether a number is milliseconds since 1970. The same member can
// also hold milliseconds since the window was opened.
func epoch(ms float64) bool { return ms >= 1e11 && ms < 1e14 }
