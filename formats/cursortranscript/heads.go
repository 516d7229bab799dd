package cursortranscript

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/jsonl"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

func heads(ctx context.Context, l *formats.Location, _ formats.View) iter.Seq2[*session.Head, error] {
	return jsonl.Each(ctx, l, layout(l), func(s *jsonl.Store, f *jsonl.File, yield func(*session.Head, error) bool) bool {
		h, err := head(s, f)
		return yield(&h, err)
	})
}

// head returns what the ends of a file state.
func head(s *jsonl.Store, f *jsonl.File) (session.Head, error) {
	h := session.Head{ID: f.ID, Agent: agent(f), Turns: -1, Bytes: -1}
	if f.Link.Session != "" {
		h.Parent = &f.Link
	}
	ends, err := s.Ends(f)
	if err == nil {
		h.Bytes, h.Updated = ends.Size, latest(ends.Tail)
		h.Title, h.Created = opening(ends.Head, isText(f))
	}
	return h, err
}

// opening returns the title and the time of the first prompt.
func opening(b []byte, text bool) (title string, at session.Stamp) {
	if text {
		_, rest, _ := bytes.Cut(b, []byte("user:"))
		prompt, _, _ := bytes.Cut(rest, []byte("\nassistant:"))
		return titled(string(prompt))
	}
	for line := range bytes.Lines(b) {
		if string(rawjson.Last(line, "role")) == `"user"` {
			prompt := jsonl.FirstText(rawjson.At(line, "message", "content"))
			if title, at = titled(prompt); title != "" {
				return title, at
			}
		}
	}
	return "", session.Stamp{}
}

// titled is the first line of a prompt, and its timestamp.
func titled(prompt string) (title string, at session.Stamp) {
	for _, p := range envelope.Split(strings.TrimSpace(prompt)) {
		if p.Tag == stampTag && !at.Known() {
			at = moment(p.Text)
		}
		if p.Prompt() && title == "" {
			title = envelope.Title(p.Text)
		}
	}
	return title, at
}

// stampTag is the envelope around a prompt's time.
const stampTag = "timestamp"

// latest is the last timestamp in a piece of a file. It searches forwards,
// which is many times as fast.
func latest(b []byte) (at session.Stamp) {
	from, to := []byte("<"+stampTag+">"), []byte("</"+stampTag)
	for {
		i := bytes.Index(b, from)
		if i < 0 {
			return at
		}
		b = b[i+len(from):]
		words, _, closed := bytes.Cut(b[:min(len(b), 200)], to)
		if m := moment(string(words)); closed && m.Known() {
			at = m
		}
	}
}

// moment reads a time in words: Sunday, Apr 26, 2026, 9:53 PM (UTC-4). It is
// to the minute.
func moment(words string) session.Stamp {
	words, zone, _ := strings.Cut(strings.TrimSpace(words), " (UTC")
	zone, closed := strings.CutSuffix(zone, ")")
	if !closed {
		return session.Stamp{}
	}
	t, err := time.Parse("Monday, Jan 2, 2006, 3:04 PM", words)
	if err != nil {
		return session.Stamp{}
	}
	var offset time.Duration
	switch {
	case zone == "":
	case zone[0] == '+' || zone[0] == '-':
		hours, minutes, split := strings.Cut(zone[1:], ":")
		if !split {
			minutes = "0"
		}
		if offset, err = time.ParseDuration(hours + "h" + minutes + "m"); err != nil || offset > 24*time.Hour || offset < 0 {
			return session.Stamp{}
		}
		if zone[0] == '-' {
			offset = -offset
		}
	default:
		return session.Stamp{}
	}
	return session.Inferred(t.Add(-offset).UnixMilli())
}
