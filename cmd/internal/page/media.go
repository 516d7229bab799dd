package page

import (
	"bytes"
	"encoding/base64"
	"iter"
	"strings"

	"rehome/cmd/internal/page/markup"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// picture returns the type of an image by its first bytes, or "". It is never one that can
// hold anything but pixels, such as SVG.
func picture(b []byte) markup.HTML {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "image/gif"
	case len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// Media writes an image into the page, and a line about anything else.
func (p *writer) Media(m *session.Media) {
	kind := picture(m.Data)
	if kind == "" || !p.o.Full && len(m.Data) > maxImage {
		p.Note(prose.MediaLabel(m) + ", " + prose.Digest(m.Data))
		return
	}
	p.begin()
	about := markup.HTML(strings.ToUpper(string(kind[len("image/"):]))) + " image"
	if m.Name != "" {
		about = markup.Text(m.Name)
	}
	p.fill("image", "alt", about, "mime", kind)
	if p.err == nil {
		e := base64.NewEncoder(base64.StdEncoding, p.w)
		if _, p.err = e.Write(m.Data); p.err == nil {
			p.err = e.Close()
		}
	}
	p.fill("image-end", "caption", about+", "+markup.Safe(screen.Size(int64(len(m.Data)))))
}

// The limits of the subagents that are shown in their parents. Each is decoded by itself.
const (
	maxDepth     = 4
	MaxSubagents = 64
)

// subagent writes the session that a call started, in its place.
func (p *writer) subagent(s *prose.Step) {
	if s.Child == "" {
		return
	}
	words, id := "subagent "+screen.Visible(s.Child), strings.Clone(s.Child)
	if p.shown[id] {
		p.Note(words + ", shown elsewhere on this page")
		return
	}
	var all iter.Seq2[*session.Session, error]
	if !s.External && p.depth < maxDepth && p.sums.kids < MaxSubagents {
		all = p.o.Child(id)
	}
	if all == nil {
		p.sums.absent++
		p.Note(words + ", not shown here")
		return
	}
	p.shown[id] = true
	p.sums.kids++
	for child, err := range all {
		if err != nil {
			p.Note(words + ", which could not be read")
			return
		}
		inner := &writer{output: p.output, o: p.o, depth: p.depth + 1}
		p.fill("subagent", "title", title(child.Title))
		if inner.walk(child) != nil {
			inner.Note("the rest of this subagent could not be read")
		}
		inner.endTurn()
		p.fill("digest", "text", "subagent, "+markup.Safe(prose.HeadDigest(child)))
		p.fill("step-end")
		return
	}
	p.Note(words + ", not found")
}
