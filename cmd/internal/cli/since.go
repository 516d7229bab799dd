package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rehome/formats"
)

// parseTime parses the value of --since: a date, a time, or how long ago it
// was. The empty string is the zero time.
func parseTime(text string, now time.Time) (time.Time, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "":
		return time.Time{}, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02t15:04", "2006-01-02t15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text)); err == nil {
		return t, nil
	}
	if t, ok := ago(strings.TrimSpace(strings.TrimSuffix(text, "ago")), now); ok {
		return t, nil
	}
	return time.Time{}, &formats.Error{At: "--since", Err: fmt.Errorf("invalid date %q", text),
		Hint: `try 2026-11-01, 2026-11-01T09:30, yesterday, "3 days", 12h or 2w`}
}

// ago returns the time that lies a number of units before now.
func ago(text string, now time.Time) (time.Time, bool) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	n, err := strconv.Atoi(text[:digits])
	if err != nil || n > 100_000 {
		return time.Time{}, false
	}
	switch unit := strings.TrimSpace(text[digits:]); unit {
	case "m", "min", "minute", "minutes":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "h", "hour", "hours":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d", "day", "days":
		return now.AddDate(0, 0, -n), true
	case "w", "week", "weeks":
		return now.AddDate(0, 0, -7*n), true
	case "month", "months":
		return now.AddDate(0, -n, 0), true
	case "y", "year", "years":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}

// relativeTime returns how long ago t was or, if that is more than a week, its date.
func relativeTime(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < -time.Minute, d >= 7*24*time.Hour:
		return t.In(now.Location()).Format("2006-01-02")
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	case d < 48*time.Hour:
		return "1 day"
	default:
		return strconv.Itoa(int(d/(24*time.Hour))) + " days"
	}
}
