package streamjson

import (
	"bytes"
	"context"
	"os"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/rawjson"
)

const formatName = "stream-json"

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:   formatName,
		Title:  "a capture of the Cursor CLI's --output-format stream-json",
		Probe:  probe,
		Decode: decode,
		Stream: stream,
		Heads:  heads,
		Check:  check,
	}
}

// mostProbe is how far a probe looks: behind some lines of a build's own talk.
const mostProbe = 64 << 10

// probe knows a capture by its first event. Lines of other programs may stand
// in front of it.
func probe(ctx context.Context, l *formats.Location) (formats.Match, error) {
	if !l.Regular() || bytes.IndexByte(l.Head(), 0) >= 0 || bytes.IndexByte(l.Head(), '{') < 0 && len(l.Head()) < 512 {
		return formats.Match{}, nil
	}
	f, err := os.Open(l.Path)
	if err != nil {
		return formats.Match{}, nil // reading it will say why
	}
	defer f.Close()
	head := make([]byte, mostProbe)
	n, _ := f.ReadAt(head, 0)
	m, _ := recognise(ctx, head[:n], n == len(head))
	return m, nil
}

// recognise looks at the beginning of a file.
func recognise(ctx context.Context, head []byte, cut bool) (formats.Match, error) {
	if raw := whole(head); raw != nil && !cut {
		head = raw
	}
	for l, err := range lines.Each(ctx, bytes.NewReader(head), len(head)+1) {
		if err != nil {
			return formats.Match{}, err
		}
		e := read(l)
		if e.kind == noise && !l.Ended {
			e = torn(unstamped(e.raw))
		}
		switch {
		case e.kind == blank, e.kind == noise:
		case e.kind == initial && e.session != nil:
			return formats.Match{Score: 90, Evidence: []string{"a line of type system/init with a session_id"}}, nil
		case e.kind == ended && e.session != nil && rawjson.Last(e.raw, "duration_ms") != nil:
			return formats.Match{Score: 85, Evidence: []string{"a line of type result with duration_ms and a session_id"}}, nil
		case e.kind > other && e.session != nil:
			return formats.Match{Score: 70, Evidence: []string{"a line of type " + string(e.typ) + " with a session_id"}}, nil
		case e.kind == other && e.session == nil: // somebody's JSON log
		default:
			return formats.Match{}, nil
		}
	}
	return formats.Match{}, nil
}

// torn looks at the beginning of a line that goes on beyond what was read: its
// first members are enough.
func torn(b []byte) (e event) {
	e = event{kind: noise, raw: b}
	for n, v := range rawjson.Members(b) {
		switch string(n) {
		case "type":
			e.typ = plain(v)
		case "subtype":
			e.sub = plain(v)
		case "session_id":
			e.session = plain(v)
		}
	}
	if k := sort(string(e.typ), string(e.sub)); k > other {
		e.kind = k
		if e.session == nil && (k == ended || k == prompt) {
			e.session = []byte("?") // it stands behind the text
		}
	}
	return e
}

// mostWhole is how long a single object over several lines may be.
const mostWhole = 1 << 20

// whole is a file that is one object over several lines, as jq prints it, in
// one line; nil if it is anything else.
func whole(b []byte) []byte {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte(bom)))
	first, _, more := bytes.Cut(b, []byte("\n"))
	if !more || len(bytes.TrimSpace(first)) != 1 || first[0] != '{' || len(b) > mostWhole {
		return nil
	}
	line, repaired, err := rawjson.Line(b)
	if err != nil || repaired {
		return nil
	}
	return line
}
