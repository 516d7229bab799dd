package prose

import (
	"bufio"
	"io"
	"strings"
	"time"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats/session"
)

// paper is what a pen writes on: lines, and one empty line between what does
// not belong together. The first error of the writer sticks.
type paper struct {
	w     *bufio.Writer
	err   error
	begun bool // something was written
	open  bool // the last line was not empty
}

func newPaper(w io.Writer) *paper { return &paper{w: bufio.NewWriterSize(w, 32<<10)} }

func (p *paper) line(s screen.Safe) {
	if p.err != nil {
		return
	}
	p.w.WriteString(string(s))
	p.err = p.w.WriteByte('\n')
	p.begun, p.open = true, s != ""
}

// gap leaves an empty line behind what was written.
func (p *paper) gap() {
	if p.begun && p.open {
		p.line("")
	}
}

func (p *paper) flush() error {
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}

// moment is a time as people write it; a tilde says that it was worked out.
func (o *Options) moment(s session.Stamp, layout string) string {
	if !s.Known() {
		return ""
	}
	zone := o.Zone
	if zone == nil {
		zone = time.UTC
	}
	text := s.Time().In(zone).Format(layout)
	if s.Inferred() {
		text = "~" + text
	}
	return text
}

const minutes = "2006-01-02 15:04"

// fact is a line of what is known about a session.
type fact struct{ name, value screen.Safe }

// facts are what is known about a session before its first message.
func (o *Options) facts(s *session.Session) []fact {
	var out []fact
	add := func(name screen.Safe, values ...string) {
		var parts []screen.Safe
		for _, v := range values {
			if v != "" {
				parts = append(parts, screen.Visible(v))
			}
		}
		if len(parts) > 0 {
			out = append(out, fact{name, screen.Join(parts, ", ")})
		}
	}
	add("session", s.ID)
	add("client", s.Agent)
	folder := s.Workspace
	if s.Branch != "" && folder != "" {
		folder += " (" + s.Branch + ")"
	}
	add("folder", append([]string{folder}, s.Folders...)...)
	mode := ""
	if s.Mode != "" {
		mode = "mode " + s.Mode
	}
	add("model", s.Model, mode)
	when := o.moment(s.Created, minutes)
	if to := o.moment(s.Updated, minutes); to != "" && to != when {
		if when != "" {
			when += " to "
		}
		when += to
	}
	add("time", when)
	add("status", s.Status)
	if s.Context != nil && s.Context.Max > 0 {
		add("context", string(screen.Grouped(s.Context.Used)+" of "+screen.Grouped(s.Context.Max)+" tokens"))
	}
	if s.Parent != nil {
		add("subagent of", s.Parent.Session+o.kind(s.Parent))
	}
	add("missing", s.Missing...)
	return out
}

func (o *Options) kind(l *session.Link) string {
	if l.Kind == "" {
		return ""
	}
	return " (" + l.Kind + ")"
}

// again is the command that shows another session of the same store.
func (o *Options) again(id string) screen.Safe {
	if o.Source == "" {
		return screen.Visible(id)
	}
	return "rehome show " + screen.Visible(quoted(o.Source+"#"+id))
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./#@+=:,~") == "" && s != "" && s[0] != '#' && s[0] != '~' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// usage is what a turn cost, "" if nobody counted.
func usage(u *session.Usage) screen.Safe {
	if u == nil {
		return ""
	}
	var parts []screen.Safe
	for _, c := range [...]struct {
		n    int64
		name screen.Safe
	}{{u.Input, "in"}, {u.Output, "out"}, {u.CacheRead, "from cache"}} {
		if c.n > 0 {
			parts = append(parts, screen.Grouped(c.n)+" "+c.name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "tokens " + screen.Join(parts, ", ")
}

// about is what a turn's heading says besides its number: the model, if it is
// not the session's.
func (o *Options) about(t *session.Turn, model string) []screen.Safe {
	var out []screen.Safe
	add := func(s string) {
		if s != "" {
			out = append(out, screen.Visible(s))
		}
	}
	add(o.moment(t.Start, minutes))
	if t.Start.Known() && t.End.Known() {
		if ms := t.End.Millis() - t.Start.Millis(); ms > 0 && ms < 1<<40 {
			out = append(out, screen.Span(time.Duration(ms)*time.Millisecond))
		}
	}
	if t.Model != model {
		add(t.Model)
	}
	if t.Kind != "" {
		add(t.Kind)
	}
	if t.Mode != "" && t.Mode != "agent" {
		add("mode " + t.Mode)
	}
	if cost := usage(t.Usage); cost != "" {
		out = append(out, cost)
	}
	if t.Status != "finished" {
		add(t.Status)
	}
	return out
}
