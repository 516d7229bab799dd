package streamjson

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/plainfiles"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const formatName = "stream-json"

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    formatName,
		Title:   "a capture of the Cursor CLI's --output-format stream-json",
		Clients: []string{session.CursorCLI},
		Probe:   probe,
		Plain:   plainfiles.Records(formatName),
		Sessions: &formats.Sessions{
			Decode: decode,
			Stream: stream,
			Heads:  heads,
			Scan:   scan,
		},
		Check: check,
		// A capture is what one process printed. Two of one session that differ are two
		// captures: both are kept, unless one has all lines of the other one.
		Merge: &formats.Merge{Owner: func(string) string { return "" }, Files: []formats.MergeFile{{Name: "*", Text: true}}},
	}
}

// noisy are the endings of files in which a build's own talk may stand in front
// of the first event. Elsewhere the first line is one.
var noisy = []string{".json", ".jsonl", ".ndjson", ".log", ".txt"}

// probe knows a capture by its first event.
func probe(ctx context.Context, l *formats.Location) (formats.Match, error) {
	ending := strings.ToLower(filepath.Ext(l.Path))
	if b := unstamped(l.FirstLine()); len(b) == 0 || b[0] != '{' && !slices.Contains(noisy, ending) {
		return formats.Match{}, nil
	}
	text, all := l.Text()
	m, _ := recognize(ctx, text, !all, slices.Contains(noisy, ending))
	return m, nil
}

// recognize looks at the beginning of a file.
func recognize(ctx context.Context, head []byte, cut, noisy bool) (formats.Match, error) {
	if raw := whole(head); raw != nil && !cut {
		head = raw
	}
	for l, err := range lines.Each(ctx, bytes.NewReader(head), len(head)+1) {
		if err != nil {
			return formats.Match{}, err
		}
		e := read(l)
		if e.kind == noise && !l.Ended && torn(unstamped(e.raw)) {
			return formats.Match{Score: 85, Evidence: []string{"a line of type result with duration_ms"}}, nil
		}
		if score, evidence := e.tells(); score > 0 {
			return formats.Match{Score: score, Evidence: []string{evidence}}, nil
		}
		if e.kind != blank && !(noisy && (e.kind == noise || e.kind == other && e.session == nil)) {
			return formats.Match{}, nil
		}
	}
	return formats.Match{}, nil
}

// tells says by what an event is known. Others write lines of these types, too,
// but not with these members: the other client that has a stream-json gives
// every line of it a uuid, or says what it costs.
func (e *event) tells() (score int, evidence string) {
	if e.session == nil {
		return 0, ""
	}
	has := map[string]byte{}
	for n, v := range rawjson.Members(e.raw) {
		switch n := string(n); n {
		case "message", "tool_call", "duration_ms", "uuid", "parent_tool_use_id", "mcp_servers", "total_cost_usd":
			has[n] = v[0] // read says that the line is JSON
		}
	}
	of := "a line of type " + string(e.typ)
	switch {
	case has["uuid"] > 0, has["parent_tool_use_id"] > 0, has["mcp_servers"] > 0, has["total_cost_usd"] > 0:
	case e.kind == initial:
		return 90, of + "/init with a session_id"
	case e.kind == ended && has["duration_ms"] > 0:
		return 85, of + " with duration_ms and a session_id"
	case (e.kind == prompt || e.kind == said) && has["message"] == '{', (e.kind == called || e.kind == returned) && has["tool_call"] == '{', e.kind == pondered, e.kind == thought:
		return 70, of + " with a session_id"
	}
	return 0, ""
}

// torn reports a result that goes on beyond what was read: its session_id
// stands behind the text.
func torn(b []byte) bool {
	return bytes.HasPrefix(b, []byte(`{"type":"result","subtype":`)) && bytes.Contains(b[:min(len(b), maxTorn)], []byte(`"duration_ms":`))
}

// maxTorn is how much of a result stands in front of its text.
const maxTorn = 256

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
