package diff

import (
	"hash/fnv"
	"slices"
	"strings"
)

// Long is a text of a part that differs, and that is too long to be held on both sides.
type Long struct {
	Name          string // "text", or the member of a call: "args", "input", "result.output" or "result.value"
	Before, After Extent
	Line          int // the first one that differs, 0 if that is not known
}

// Extent is how long a text is.
type Extent struct {
	Lines, Bytes int

	sum   digest
	lines []uint64 // hashes
}

// maxLines bounds the lines of long texts of one side whose hashes are held.
const maxLines = 1 << 19

func extentOf(s string, lines int) Extent {
	e := Extent{Bytes: len(s), sum: digestOf(s)}
	for line := range strings.Lines(s) {
		if e.Lines++; e.Lines <= lines {
			h := fnv.New64a()
			h.Write([]byte(line))
			e.lines = append(e.lines, h.Sum64())
		}
	}
	return e
}

// long notes how long a text is that is not held.
func (t *texts) long(p *Part, name, s string) {
	e := extentOf(s, t.hashes)
	t.hashes -= len(e.lines)
	p.Cut, p.long = true, append(p.long, longText{name, e})
}

// longText is a text of a part that is not held.
type longText struct {
	name string
	Extent
}

// isLong reports whether a text of a part is not held.
func (p *Part) isLong(name string) bool {
	return slices.ContainsFunc(p.long, func(l longText) bool { return l.name == name })
}

// extent returns how long a text of a part is, whether it is held or not.
func (p *Part) extent(name string) Extent {
	for _, l := range p.long {
		if l.name == name {
			return l.Extent
		}
	}
	s := p.Text
	if c := p.Call; c != nil && name == "args" {
		s = string(c.Args)
	} else if c != nil && name == "input" {
		s = string(c.Input)
	}
	if r := p.Result; r != nil && name == "result.output" {
		s = Output(r)
	} else if r != nil && name == "result.value" {
		s = string(r.Value)
	}
	return extentOf(s, maxLines)
}

// longs compares the texts of two parts that one of them does not hold.
func longs(before, after *Part, cross bool) (out []Long) {
	if before == nil || after == nil {
		return nil
	}
	for i, name := range []string{"text", "args", "input", "result.output", "result.value"} {
		if cross && i > 0 {
			break
		}
		if !before.isLong(name) && !after.isLong(name) {
			continue
		}
		l := Long{Name: name, Before: before.extent(name), After: after.extent(name)}
		if l.Before.sum == l.After.sum {
			continue
		}
		a, b := l.Before.lines, l.After.lines
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		if n < min(len(a), len(b)) || n == min(l.Before.Lines, l.After.Lines) {
			l.Line = n + 1
		}
		out = append(out, l)
	}
	return out
}
