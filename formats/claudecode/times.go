package claudecode

import (
	"time"

	"rehome/formats/loss"
	"rehome/formats/session"
)

// tick is the time of the next line: its message's where that does not go back.
func (e *encoder) tick(at session.Stamp) string {
	next := e.last + 1
	if inReach(at) && at.Millis() > next {
		next = at.Millis()
	}
	e.last = next
	return time.UnixMilli(next).UTC().Format(stampLayout)
}

// stampLayout is how the client spells a time.
const stampLayout = "2006-01-02T15:04:05.000Z"

// timed says what is unusual about a message's time.
func (e *encoder) timed(m *session.Message) {
	switch {
	case !m.At.Known():
		e.note(loss.TimeUnknown)
	case !inReach(m.At):
		e.note(loss.TimeOutOfRange)
	case m.At.Millis() < e.said:
		e.note(loss.TimeBackwards)
	default:
		e.said = m.At.Millis()
	}
}

// inReach reports a time that ISO 8601 spells with four digits.
func inReach(t session.Stamp) bool {
	return t.Known() && t.Millis() >= 0 && t.Millis() < 253402300800000-(1<<32)
}
