package sdkdoc

import (
	"fmt"
	"strconv"
	"time"

	"rehome/internal/rawjson"
)

const (
	maxMillis = 8_640_000_000_000_000 // the last instant a JavaScript date can be
	epoch     = "1970-01-01T00:00:00.000Z"
)

// AppendISO appends the time as JavaScript's toISOString spells it; false if
// there is no such time.
func AppendISO(dst []byte, ms int64) ([]byte, bool) {
	if ms > maxMillis || ms < -maxMillis {
		return dst, false
	}
	at := time.UnixMilli(ms).UTC()
	format := "%04d"
	if y := at.Year(); y < 0 || y > 9999 {
		format = "%+07d"
	}
	return at.AppendFormat(fmt.Appendf(dst, format, at.Year()), "-01-02T15:04:05.000Z"), true
}

// parseISO reads a time. exact means that AppendISO spells it the same; ok
// that it is a time at all, as far as RFC 3339 goes.
func parseISO(s []byte) (ms int64, exact, ok bool) {
	text, year := string(s), 0
	wide := len(s) == 27 && (s[0] == '+' || s[0] == '-') // a year of six digits, which package time does not read
	if wide {
		n, err := strconv.Atoi(text[:7])
		if err != nil {
			return 0, false, false
		}
		text, year = "2000"+text[7:], n-2000 // a leap year
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, false, false
	}
	ms = t.AddDate(year, 0, 0).UnixMilli()
	var space [32]byte
	again, _ := AppendISO(space[:0], ms)
	if exact = string(again) == string(s); wide && !exact {
		return 0, false, false
	}
	return ms, exact, true
}

// parseInt reads a JSON number as an integer. whole is false where a fraction
// or what goes beyond 64 bits was lost.
func parseInt(raw []byte) (v int64, whole, ok bool) {
	if rawjson.IsNumber(raw) {
		if v, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return v, true, true
		}
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f >= 1<<63 || f < -1<<63 {
			return 0, false, false
		}
		return int64(f), f == float64(int64(f)), true
	}
	return 0, false, false
}

// Millis returns the time that a member of a line says in milliseconds, as a number
// or as text; 0 if it says none.
func Millis(raw []byte) int64 {
	if rawjson.IsText(raw) {
		ms, _, _ := parseISO(raw[1 : len(raw)-1])
		return ms
	}
	ms, _, _ := parseInt(raw)
	return ms
}
