package session

import (
	"strings"
	"time"
)

// Stamp is a time in milliseconds, and whether the store states it. The zero Stamp
// is an unknown time.
type Stamp struct {
	ms       int64 // Unix time; shifted by one so that 1970 is not the zero Stamp
	inferred bool
}

// Stored returns the Stamp of a time that the store states, in Unix milliseconds.
func Stored(ms int64) Stamp { return Stamp{ms: shift(ms)} }

// Inferred returns the Stamp of a time that the store does not state.
func Inferred(ms int64) Stamp { return Stamp{ms: shift(ms), inferred: true} }

func shift(ms int64) int64 {
	if ms >= 0 {
		return ms + 1
	}
	return ms
}

// Known reports whether the time is known.
func (s Stamp) Known() bool { return s.ms != 0 }

// Inferred reports whether the store does not state the time.
func (s Stamp) Inferred() bool { return s.inferred }

// Millis returns the time in Unix milliseconds, 0 if it is not known.
func (s Stamp) Millis() int64 {
	if s.ms > 0 {
		return s.ms - 1
	}
	return s.ms
}

// Time returns the time in UTC.
func (s Stamp) Time() time.Time { return time.UnixMilli(s.Millis()).UTC() }

// FirstMoment is the start of a session without any times, in Unix milliseconds, for
// clients that require one: the year 2020.
const FirstMoment = 1577836800000

// StampLayout is how rehome and most clients spell a time in UTC.
const StampLayout = "2006-01-02T15:04:05.000Z"

// FormatMillis returns a time of Unix milliseconds in StampLayout.
func FormatMillis(ms int64) string { return string(appendTime(nil, ms)) }

// The years that have four digits in ISO 8601.
const (
	firstMilli = -62167219200000 // year 0
	lastMilli  = 253402300799999 // year 9999
)

// AppendStamp appends a time as a JSON string, with a tilde before an inferred one. A
// time outside of four-digit years is a number of milliseconds.
func AppendStamp(dst []byte, s Stamp) []byte {
	dst = append(dst, '"')
	if s.inferred {
		dst = append(dst, '~')
	}
	if ms := s.Millis(); ms < firstMilli || ms > lastMilli {
		dst = appendInt(dst, ms)
	} else {
		dst = appendTime(dst, ms)
	}
	return append(dst, '"')
}

// appendTime appends a time in StampLayout. Package time formats and parses RFC 3339
// several times as fast as other layouts.
func appendTime(dst []byte, ms int64) []byte {
	t := time.UnixMilli(ms).UTC()
	dst = t.AppendFormat(dst, time.RFC3339)
	milli := t.Nanosecond() / 1e6
	return append(dst[:len(dst)-1], '.', byte('0'+milli/100), byte('0'+milli/10%10), byte('0'+milli%10), 'Z')
}

// ParseStamp parses what AppendStamp appends, without the quotes.
func ParseStamp(text string) (Stamp, bool) {
	text, inferred := strings.CutPrefix(text, "~")
	if len(text) == len(StampLayout) && text[19] == '.' && text[23] == 'Z' {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return Stamp{}, false
		}
		return Stamp{shift(t.UnixMilli()), inferred}, true
	}
	ms, ok := parseInt(text)
	if !ok || ms >= firstMilli && ms <= lastMilli {
		return Stamp{}, false
	}
	return Stamp{shift(ms), inferred}, true
}
