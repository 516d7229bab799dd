package prose

import (
	"bufio"
	"io"
	"slices"
	"time"

	"rehome/cmd/internal/screen"
	"rehome/formats/session"
	"rehome/internal/shell"
)

// lineWriter writes lines, with one blank line between blocks. It keeps the
// first error of the writer.
type lineWriter struct {
	w       *bufio.Writer
	err     error
	started bool // a line has been written
	open    bool // the last line was not empty
}

func newLineWriter(w io.Writer) *lineWriter { return &lineWriter{w: bufio.NewWriterSize(w, 32<<10)} }

func (p *lineWriter) line(s screen.Safe) {
	if p.err != nil {
		return
	}
	p.w.WriteString(string(s))
	p.err = p.w.WriteByte('\n')
	p.started, p.open = true, s != ""
}

// blankLine writes a blank line unless there is one already.
func (p *lineWriter) blankLine() {
	if p.started && p.open {
		p.line("")
	}
}

func (p *lineWriter) Flush() error {
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}

// formatTime formats a time. A tilde marks inferred times.
func (o *Options) formatTime(s session.Stamp, layout string) string {
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

const minuteLayout = "2006-01-02 15:04"

// Fact is a line of metadata about a session.
type Fact struct{ Name, Value screen.Safe }

// Facts returns the metadata to print before the first message.
func (o *Options) Facts(s *session.Session) []Fact {
	var out []Fact
	add := func(name screen.Safe, values ...string) {
		var parts []screen.Safe
		for _, v := range values {
			if v != "" {
				parts = append(parts, screen.Visible(v))
			}
		}
		if len(parts) > 0 {
			out = append(out, Fact{name, screen.Join(parts, ", ")})
		}
	}
	add("session", s.ID)
	add("client", s.Agent)
	folder := s.Workspace
	if s.Branch != "" && folder != "" {
		folder += " (" + s.Branch + ")"
	}
	others := slices.DeleteFunc(slices.Clone(s.Folders), func(f string) bool { return f == s.Workspace })
	add("folder", append([]string{folder}, others...)...)
	mode := ""
	if s.Mode != "" {
		mode = "mode " + s.Mode
	}
	add("model", s.Model, mode)
	when := o.formatTime(s.Created, minuteLayout)
	if to := o.formatTime(s.Updated, minuteLayout); to != "" && to != when {
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
	if o.Digests {
		add("digest", string(HeadDigest(s)))
	}
	return out
}

func (o *Options) kind(l *session.Link) string {
	if l.Kind == "" {
		return ""
	}
	return " (" + l.Kind + ")"
}

// showCommand returns the command that shows another session of the same store.
func (o *Options) showCommand(id string) screen.Safe {
	if o.Source == "" {
		return screen.Visible(id)
	}
	return screen.Visible(shell.Command("rehome", "show", o.Source+"#"+id))
}

// FormatUsage returns the token counts of a turn, or "" if there are none.
func FormatUsage(u *session.Usage) screen.Safe {
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

// TurnFacts returns what the heading of a turn says besides its number. The
// model is included only if it is not the session's.
func (o *Options) TurnFacts(t *session.Turn, model string) []screen.Safe {
	var out []screen.Safe
	add := func(s string) {
		if s != "" {
			out = append(out, screen.Visible(s))
		}
	}
	add(o.formatTime(t.Start, minuteLayout))
	if t.Start.Known() && t.End.Known() {
		if ms := t.End.Millis() - t.Start.Millis(); ms > 0 && ms < 1<<40 {
			out = append(out, screen.Duration(time.Duration(ms)*time.Millisecond))
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
	if cost := FormatUsage(t.Usage); cost != "" {
		out = append(out, cost)
	}
	if t.Status != "finished" {
		add(t.Status)
	}
	return out
}
