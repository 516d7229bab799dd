package sdkdoc

import (
	"strconv"
	"time"
)

const (
	dayMillis = 24 * 60 * 60 * 1000
	maxMillis = 8_640_000_000_000_000 // the last instant a JavaScript date can be
	epoch     = "1970-01-01T00:00:00.000Z"
)

// appendISO appends the time as JavaScript's toISOString spells it; false if
// there is no such time.
func appendISO(dst []byte, ms int64) ([]byte, bool) {
	if ms > maxMillis || ms < -maxMillis {
		return dst, false
	}
	day := ms / dayMillis
	rest := ms % dayMillis
	if rest < 0 {
		day, rest = day-1, rest+dayMillis
	}
	y, m, d := civil(day)
	if y < 0 || y > 9999 {
		sign := byte('+')
		if y < 0 {
			sign, y = '-', -y
		}
		dst = digits(append(dst, sign), y, 6)
	} else {
		dst = digits(dst, y, 4)
	}
	dst = digits(append(dst, '-'), m, 2)
	dst = digits(append(dst, '-'), d, 2)
	dst = digits(append(dst, 'T'), rest/3_600_000, 2)
	dst = digits(append(dst, ':'), rest/60_000%60, 2)
	dst = digits(append(dst, ':'), rest/1000%60, 2)
	dst = digits(append(dst, '.'), rest%1000, 3)
	return append(dst, 'Z'), true
}

func digits(dst []byte, v int64, n int) []byte {
	at := len(dst)
	for range n {
		dst = append(dst, '0')
	}
	for i := at + n - 1; i >= at; i-- {
		dst[i] = byte('0' + v%10)
		v /= 10
	}
	return dst
}

// civil is the date of a day counted from 1970-01-01, by the calendar that
// JavaScript extends both ways. Years begin in March here, so that a leap day
// is the last of its year.
func civil(day int64) (y, m, d int64) {
	day += 719468 // from 0000-03-01
	era := day / 146097
	if day < 0 {
		era = (day - 146096) / 146097
	}
	of := day - era*146097
	year := (of - of/1460 + of/36524 - of/146096) / 365
	of -= 365*year + year/4 - year/100
	month := (5*of + 2) / 153
	d = of - (153*month+2)/5 + 1
	y = year + era*400
	if m = month + 3; m > 12 {
		m, y = m-12, y+1
	}
	return y, m, d
}

// days is civil backwards.
func days(y, m, d int64) int64 {
	if m <= 2 {
		y, m = y-1, m+12
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	year := y - era*400
	return era*146097 + year*365 + year/4 - year/100 + (153*(m-3)+2)/5 + d - 1 - 719468
}

// parseISO reads a time. exact means that appendISO spells it the same; ok
// that it is a time at all, as far as RFC 3339 goes.
func parseISO(s []byte) (ms int64, exact, ok bool) {
	if ms, ok = plainISO(s); ok {
		var space [32]byte
		again, _ := appendISO(space[:0], ms)
		if string(again) == string(s) {
			return ms, true, true
		}
	}
	t, err := time.Parse(time.RFC3339Nano, string(s))
	if err != nil {
		return 0, false, false
	}
	return t.UnixMilli(), false, true
}

// plainISO reads the shape that appendISO writes. It does not mind the 31st of
// February: whoever spells the result again sees that.
func plainISO(s []byte) (int64, bool) {
	sign, wide := int64(1), len(s) == 27
	if wide {
		if s[0] == '-' {
			sign = -1
		} else if s[0] != '+' {
			return 0, false
		}
		s = s[1:]
	} else if len(s) != 24 {
		return 0, false
	}
	shape := "0000-00-00T00:00:00.000Z"
	if wide {
		shape = "000000-00-00T00:00:00.000Z"
	}
	var part [7]int64
	at := 0
	for i := range shape {
		switch c := s[i]; {
		case shape[i] != '0' && c != shape[i]:
			return 0, false
		case shape[i] != '0':
			at++
		case c < '0' || c > '9':
			return 0, false
		default:
			part[at] = part[at]*10 + int64(c-'0')
		}
	}
	return days(sign*part[0], part[1], part[2])*dayMillis + part[3]*3_600_000 + part[4]*60_000 + part[5]*1000 + part[6], true
}

// parseInt reads a JSON number as an integer. whole is false where a fraction
// or what goes beyond 64 bits was lost.
func parseInt(raw []byte) (v int64, whole, ok bool) {
	if len(raw) > 0 && (raw[0] == '-' || raw[0]-'0' <= 9) {
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
