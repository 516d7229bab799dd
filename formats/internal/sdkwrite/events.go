package sdkwrite

import (
	"strconv"
	"unicode/utf8"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/session"
)

// events writes the events of one run after the other.
type events struct {
	out  *out
	id   string // of the agent
	seq  int64
	now  int64 // time of the last event
	head []byte
	body []byte // from the offset to the type of the message
	who  []byte // after that type
	at   []byte // now, as text
	said int64  // the time in at
	buf  []byte
}

// run begins the events of a run.
func (e *events) run(id string) {
	e.seq = 0
	e.head = append(quote(append(e.head[:0], `{"runId":`...), id), `,"seq":`...)
	e.body = append(quote(append(e.body[:0], `","eventType":"`+sdkdoc.StreamEvent+`","payload":{"schemaVersion":1,"type":"sdk_message","agentId":`...), e.id), `,"runId":`...)
	e.body = append(quote(e.body, id), `,"message":{"type":"`...)
	e.who = append(quote(append(e.who[:0], `","agent_id":`...), e.id), `,"run_id":`...)
	e.who = quote(e.who, id)
}

// begin begins an event. Its members follow in buf.
func (e *events) begin(kind string) {
	e.seq++
	b := strconv.AppendInt(append(e.buf[:0], e.head...), e.seq, 10)
	b = strconv.AppendInt(append(b, `,"offset":"`...), e.seq, 10)
	b = append(append(append(b, e.body...), kind...), e.who...)
	e.buf = b
}

// end ends an event. Times never go back.
func (e *events) end(at session.Stamp) {
	e.tick(at)
	if e.said != e.now || e.at == nil {
		e.at, _ = sdkdoc.AppendISO(e.at[:0], e.now)
		e.said = e.now
	}
	b := append(e.buf, `}},"payloadRef":null,"idempotencyKey":null,"createdAt":"`...)
	b = append(append(b, e.at...), `"}`...)
	e.out.line(b)
	if e.buf = b[:0]; cap(b) > bufferMax {
		e.buf = nil
	}
}

// tick moves the clock on to a time, if it is later.
func (e *events) tick(at session.Stamp) {
	if inReach(at) && at.Millis() > e.now {
		e.now = at.Millis()
	}
}

// bufferMax is how large a buffer may be to be kept for the next line.
const bufferMax = 4 << 20

// inReach reports whether a time is one that all clients can hold.
func inReach(t session.Stamp) bool {
	return t.Known() && t.Millis() >= 0 && t.Millis() < 253402300800000
}

// quote appends text as the SDK spells a JSON string.
func quote(dst []byte, text string) []byte {
	if !utf8.ValidString(text) {
		return session.AppendString(dst, text) // half a character is an escape, as in the SDK's JSON
	}
	return sdkdoc.Quote(dst, []byte(text))
}

// appendMember appends a member that is text.
func appendMember(dst []byte, name, text string) []byte {
	return quote(append(append(append(dst, `,"`...), name...), `":`...), text)
}

func (e *events) request(id string, at session.Stamp) {
	e.begin("request")
	e.buf = appendMember(e.buf, "request_id", id)
	e.end(at)
}

func (e *events) status(word, problem string, at session.Stamp) {
	e.begin("status")
	if e.buf = appendMember(e.buf, "status", word); problem != "" {
		e.buf = appendMember(e.buf, "message", problem)
	}
	e.end(at)
}

// say writes a text of the user or the assistant.
func (e *events) say(role, text string, at session.Stamp) {
	e.begin(role)
	e.buf = append(e.buf, `,"message":{"role":"`+role+`","content":[{"type":"text","text":`...)
	e.buf = append(quote(e.buf, text), `}]}`...)
	e.end(at)
}

// think writes reasoning, and how long it took.
func (e *events) think(t *session.Thinking, at session.Stamp) {
	e.begin("thinking")
	e.buf = appendMember(e.buf, "text", t.Text)
	e.end(at)
	if t.Millis <= 0 {
		return
	}
	e.begin("thinking")
	e.buf = strconv.AppendInt(append(e.buf, `,"text":"","thinking_duration_ms":`...), t.Millis, 10)
	e.end(t.End)
}

func (e *events) usage(u *session.Usage, at session.Stamp) {
	e.begin("usage")
	e.buf = appendUsage(append(e.buf, `,"usage":`...), u)
	e.end(at)
}

// appendUsage appends the counts that are known.
func appendUsage(dst []byte, u *session.Usage) []byte {
	between := byte('{')
	for _, c := range []struct {
		name string
		n    int64
	}{{"inputTokens", u.Input}, {"outputTokens", u.Output}, {"cacheReadTokens", u.CacheRead}, {"cacheWriteTokens", u.CacheWrite}, {"reasoningTokens", u.Reasoning}, {"totalTokens", u.Total}} {
		if c.n >= 0 {
			dst = append(append(append(dst, between, '"'), c.name...), `":`...)
			dst, between = strconv.AppendInt(dst, c.n, 10), ','
		}
	}
	if between == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}
