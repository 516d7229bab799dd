package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// outlined is what decides how two sessions continue each other.
type outlined struct {
	head      session.Head
	prompts   []prompt // of each turn
	beside    int      // turns of branches, which the client does not send
	rest      rest     // what follows its last turn in the other one
	calls     int
	results   int
	subagents int
	grown     bool // the turn at which the other session ends goes on here
	inner     int  // prompts and calls of subagents
}

// outline reads a session, and finds out whether it goes on with the last turn of another
// one.
func (b *bringing) outline(ctx context.Context, of BackSource, other *outlined) (out outlined, err error) {
	r, n := rest{}, -1
	if other != nil {
		r, n = other.rest.begin(), len(other.prompts)
	}
	err = b.pass(ctx, of, func(s *session.Session) error {
		out.head = s.Head
		return session.Each(ctx, s.Messages, func(m *session.Message) error {
			out.add(m)
			if m.Branch == "" && len(out.prompts) == n && r.has(m) {
				out.grown = out.grown || tells(m)
			}
			return nil
		})
	}, func(s *session.Session) error {
		out.subagents++
		size, err := countOf(ctx, s)
		out.inner += size
		return err
	})
	return out, err
}

// countOf counts the prompts and calls of a subagent.
func countOf(ctx context.Context, s *session.Session) (int, error) {
	var one outlined
	err := session.Each(ctx, s.Messages, func(m *session.Message) error {
		one.add(m)
		return nil
	})
	return len(one.prompts) + one.calls, err
}

func (o *outlined) add(m *session.Message) {
	if m.Branch != "" {
		if m.Turn != nil {
			o.beside++
		}
		return
	}
	if m.Turn != nil && m.Role == session.User {
		o.prompts, o.rest = append(o.prompts, promptOf(m)), rest{}
	}
	said, aside := items(m)
	o.rest.said, o.rest.asides = append(o.rest.said, said...), append(o.rest.asides, aside...)
	for _, p := range m.Parts {
		switch p.(type) {
		case *session.ToolCall:
			o.calls++
		case *session.ToolResult:
			o.results++
		}
	}
}

// prompt is what is compared of a prompt.
type prompt struct {
	text  string // its beginning
	sum   string // digest of the whole text
	media bool   // it has images or files
}

// maxPrompt is how many bytes of a prompt are compared where an image became text.
const maxPrompt = 1 << 10

func promptOf(m *session.Message) (p prompt) {
	var texts []string
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *session.Text:
			texts = append(texts, strings.TrimSpace(part.Text))
		case *session.Media:
			p.media = true
		}
	}
	text := strings.Join(texts, "\n")
	p.sum = digestOf(text)
	p.text = text[:min(len(text), maxPrompt)]
	return p
}

// same reports whether two prompts are one. An image that a client cannot take is named in
// the text instead.
func (p prompt) same(o prompt) bool {
	short, long := p, o
	if len(short.text) > len(long.text) {
		short, long = o, p
	}
	switch {
	case p.sum == o.sum:
		return true
	case !p.media && !o.media:
		return false
	case short.text == "":
		return long.media || strings.HasPrefix(long.text, "[")
	}
	return strings.Contains(long.text, short.text)
}

// digestOf returns a digest of a text, without the blanks around it.
func digestOf(text string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	return hex.EncodeToString(sum[:8])
}

// items returns what every client keeps of a message after the prompt: what the assistant
// says and calls, and where the client compacted; and the texts of others.
func items(m *session.Message) (said, aside []string) {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Text:
			switch digest := digestOf(p.Text); {
			case m.Role != session.Assistant:
				aside = append(aside, digest)
			case strings.TrimSpace(p.Text) != "":
				said = append(said, digest)
			}
		case *session.Injected:
			aside = append(aside, digestOf(p.Text))
		case *session.ToolCall:
			said = append(said, "call")
		case *session.Boundary:
			said = append(said, "compacted")
		}
	}
	return said, aside
}

// tells reports whether a message is more than context of the client's.
func tells(m *session.Message) bool {
	said, _ := items(m)
	return len(said) > 0
}

// rest finds what a session has of a turn after what another one has of it.
type rest struct {
	said, asides []string // what the other one has
	calls        map[string]bool
}

func (r *rest) begin() rest { return rest{said: r.said, asides: r.asides, calls: map[string]bool{}} }

// has reports whether a message belongs to the rest. It is asked for each message of the
// turn in order.
func (r *rest) has(m *session.Message) bool {
	said, aside := items(m)
	if len(r.said) > 0 {
		for _, item := range said {
			if i := slices.Index(r.said, item); i >= 0 {
				r.said = r.said[i+1:] // what comes before it has another form here
			}
		}
		return false
	}
	if m.Turn != nil || slices.ContainsFunc(m.Extras, func(e session.Extra) bool { return e.Name == "rehome" }) {
		return false // it is older
	}
	if len(aside) > 0 && !slices.ContainsFunc(aside, func(a string) bool { return !slices.Contains(r.asides, a) }) {
		return false // the other one has it, too
	}
	own := false
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Opaque:
		case *session.ToolCall:
			r.calls[p.ID], own = true, true
		case *session.ToolResult:
			own = own || r.calls[p.Call]
		default:
			own = true
		}
	}
	return own
}

// after passes on the messages that the original lacks: of its last turn, and of the turns
// after that.
func (b *bringing) after(all iter.Seq2[*session.Message, error], note func(*session.Message)) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		turns, rest := len(b.was.prompts), b.was.rest.begin()
		for m, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if m.Branch != "" {
				if m.Turn != nil && m.Turn.Number > len(b.was.prompts) {
					b.losses.Add(loss.Loss{Code: loss.TurnAbandoned, At: store.Addr{File: m.ID}})
				}
				continue
			}
			if m.Turn != nil && m.Role == session.User {
				turns--
			}
			if turns > 0 || turns == 0 && !rest.has(m) {
				continue
			}
			if m.Said() {
				b.rep.Messages++
			}
			b.added.add(m)
			note(m)
			if !yield(m, nil) {
				return
			}
		}
	}
}

// write writes the messages that the original lacks, and the subagents that were started
// in them. build says where, and done gets the draft.
func (b *bringing) write(ctx context.Context, sink formats.Sink, build func(s *session.Session, root *session.Head) (formats.SessionBuild, error), done func(*formats.Draft, formats.SessionBuild) error) error {
	put := func(s *session.Session, root *session.Head) error {
		o, err := build(s, root)
		if err != nil {
			return err
		}
		o.Cwd, o.Root, o.DropThinking, o.FullHistory, o.OnLoss = b.rep.Cwd, root, b.o.DropThinking, b.o.FullHistory, b.losses.Add
		s.Graph = nil // it is written anew
		d, err := sink.Put(ctx, s, o)
		if err == nil {
			err = done(d, o)
		}
		return err
	}
	var root session.Head
	older := 0
	fresh, touched := map[string]bool{}, map[string]bool{} // calls and subagents; paths
	err := b.pass(ctx, b.from, func(s *session.Session) error {
		root = s.Head
		out := &session.Session{Head: s.Head, Model: s.Model, Children: s.Children, Files: touchedFiles(s.Files, touched)}
		out.Messages = b.after(s.Messages, func(m *session.Message) { started(m, fresh, touched) })
		return put(out, nil)
	}, func(s *session.Session) error {
		if up := s.Parent; up != nil && (fresh[up.Session] || fresh["call "+up.Call] || fresh[s.ID]) {
			fresh[s.ID] = true
			b.added.subagents++
			b.rep.Subagents++
			return put(s, &root)
		}
		size, err := countOf(ctx, s)
		older += size
		return err
	})
	if older > b.was.inner {
		b.losses.Add(loss.Loss{Code: loss.SubagentFailed, At: store.Addr{File: b.from.ID}}) // it went on, though started in an older turn
	}
	if family, ok := sink.(formats.FamilySink); ok && err == nil {
		err = family.Finish(ctx)
	}
	return err
}

// started notes the calls of a message, the subagents that they started, and the files that
// they name.
func started(m *session.Message, fresh, touched map[string]bool) {
	for _, p := range m.Parts {
		call, ok := p.(*session.ToolCall)
		if !ok {
			continue
		}
		if fresh["call "+call.ID] = true; call.Child != "" {
			fresh[call.Child] = true
		}
		for _, args := range []session.Raw{call.Input, call.Args} {
			var named struct {
				A string `json:"path"`
				B string `json:"file_path"`
				C string `json:"notebook_path"`
				D string `json:"targetFile"`
				E string `json:"target_file"`
			}
			_ = json.Unmarshal(args, &named) // none, if they are no object
			for _, path := range []string{named.A, named.B, named.C, named.D, named.E} {
				if path != "" {
					touched[path] = true
				}
			}
		}
	}
}

// touchedFiles passes on the states of files that calls named.
func touchedFiles(all iter.Seq2[*session.File, error], touched map[string]bool) iter.Seq2[*session.File, error] {
	if all == nil {
		return nil
	}
	return func(yield func(*session.File, error) bool) {
		for f, err := range all {
			named := err != nil || touched[f.Path]
			for path := range touched {
				named = named || strings.HasSuffix(f.Path, "/"+path)
			}
			if named && !yield(f, err) {
				return
			}
		}
	}
}
