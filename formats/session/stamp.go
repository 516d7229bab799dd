package session

import "time"

// Stamp is a moment, to the millisecond, and whether the store states it. The
// zero Stamp is not known.
type Stamp struct {
	ms       int64 // Unix time; shifted by one so that 1970 is not the zero Stamp
	inferred bool
}

// Stored is a moment that the store states, in milliseconds of Unix time.
func Stored(ms int64) Stamp { return Stamp{ms: shift(ms)} }

// Inferred is a moment that was worked out.
func Inferred(ms int64) Stamp { return Stamp{ms: shift(ms), inferred: true} }

func shift(ms int64) int64 {
	if ms >= 0 {
		return ms + 1
	}
	return ms
}

// Known reports whether there is a moment at all.
func (s Stamp) Known() bool { return s.ms != 0 }

// Inferred reports whether it was worked out.
func (s Stamp) Inferred() bool { return s.inferred }

// Millis is the moment in milliseconds of Unix time, 0 if it is not known.
func (s Stamp) Millis() int64 {
	if s.ms > 0 {
		return s.ms - 1
	}
	return s.ms
}

// Time is the moment.
func (s Stamp) Time() time.Time { return time.UnixMilli(s.Millis()).UTC() }

const stampLayout = "2006-01-02T15:04:05.000Z"

// The years that ISO 8601 spells with four digits.
const (
	firstMilli = -62167219200000 // year 0
	lastMilli  = 253402300799999 // year 9999
)

// appendStamp spells a moment; an inferred one begins with a tilde. Beyond
// four-digit years it is the plain count of milliseconds.
func appendStamp(dst []byte, s Stamp) []byte {
	dst = append(dst, '"')
	if s.inferred {
		dst = append(dst, '~')
	}
	if ms := s.Millis(); ms < firstMilli || ms > lastMilli {
		dst = appendInt(dst, ms)
	} else {
		dst = appendMoment(dst, ms)
	}
	return append(dst, '"')
}

// appendMoment writes stampLayout.
func appendMoment(dst []byte, ms int64) []byte {
	return time.UnixMilli(ms).UTC().AppendFormat(dst, stampLayout)
}

// ParseStamp reads what appendStamp spells, without the quotes.
func ParseStamp(text string) (Stamp, bool) {
	inferred := len(text) > 0 && text[0] == '~'
	if inferred {
		text = text[1:]
	}
	ms, ok := parseInt(text)
	if !ok || ms >= firstMilli && ms <= lastMilli {
		t, err := time.Parse(stampLayout, text)
		if err != nil {
			return Stamp{}, false
		}
		ms = t.UnixMilli()
	}
	return Stamp{shift(ms), inferred}, true
}
