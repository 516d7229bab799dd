package cursortranscript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// mostHead is how much of each end of a file is read to list it.
const mostHead = 64 << 10

func heads(ctx context.Context, l *formats.Location, _ formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		f, err := open(l)
		if err != nil {
			yield(nil, failure(ctx, l.Path, err))
			return
		}
		defer f.root.Close()
		buffer := make([]byte, mostHead)
		for _, e := range f.sessions {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			h, err := f.head(e, buffer)
			if err != nil {
				h, err = session.Head{ID: e.id, Agent: e.agent(), Turns: -1, Bytes: -1}, failure(ctx, e.best.Path, err)
			}
			if !yield(&h, err) {
				return
			}
		}
	}
}

// head is what the ends of a file tell.
func (f *folder) head(e *entry, buffer []byte) (session.Head, error) {
	h := session.Head{ID: e.id, Agent: e.agent(), Turns: -1, Bytes: -1}
	if e.parent != "" {
		h.Parent = &session.Link{Session: e.parent}
	}
	file, err := f.root.Open(e.best.Path)
	if err != nil {
		return h, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return h, err
	}
	h.Bytes = info.Size()
	n, err := file.ReadAt(buffer, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, err
	}
	h.Title, h.Created = opening(buffer[:n], e.best.Text)
	at := max(0, h.Bytes-mostHead)
	if at > 0 {
		if n, err = file.ReadAt(buffer, at); err != nil && !errors.Is(err, io.EOF) {
			return h, err
		}
	}
	h.Updated = latest(buffer[:n])
	return h, nil
}

// opening finds the first prompt: its title and time.
func opening(b []byte, text bool) (title string, at session.Stamp) {
	if text {
		_, rest, _ := bytes.Cut(b, []byte("user:"))
		prompt, _, _ := bytes.Cut(rest, []byte("\nassistant:"))
		return titled(string(prompt))
	}
	for len(b) > 0 {
		var line []byte
		line, b, _ = bytes.Cut(b, []byte("\n"))
		if len(line) > 0 && string(rawjson.Last(line, "role")) == `"user"` {
			content := rawjson.Last(rawjson.Last(line, "message"), "content")
			prompt := rawjson.Text(content)
			for part := range rawjson.Elements(content) {
				if prompt = rawjson.Text(rawjson.Last(part, "text")); prompt != "" {
					break
				}
			}
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

func failure(ctx context.Context, at string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &formats.Error{Format: name, At: at, Err: formats.Cause(err)}
}
