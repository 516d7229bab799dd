package agentwrite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/cursortools"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// call is a call whose result has not come.
type call struct {
	session.ToolCall
	id      string // as it is written
	at      string // its message, for losses
	spelled cursortools.Call
	of      *turn // nil before the first prompt
	step    int   // in its turn
	group   *group
	done    bool
}

// group is the calls of one answer, and the places for their results.
type group struct {
	first int // in prompts
	used  int
}

// maxHeld is how many bytes of calls wait for results.
const maxHeld = 32 << 20

// callID returns the id that a call gets: its own, if no other call has it.
func (c *Conversation) callID(id string) string {
	clean := valid(id)
	if clean == "" {
		clean = "call"
	}
	out := clean
	first := idKey(clean)
	for n := max(2, c.numbers[first]); ; n++ {
		key := idKey(out)
		if _, taken := c.ids[key]; !taken && (out != "call" || id == "call") {
			c.ids[key] = struct{}{}
			if out != clean {
				c.numbers[first] = n
			}
			break
		}
		out = clean + "-" + strconv.Itoa(n)
	}
	if out != id {
		c.note(loss.CallIDChanged)
	}
	return out
}

// idKey is enough of a hash to tell ids apart.
func idKey(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:])
}

// reserve makes places for the results of an answer's calls.
func (c *Conversation) reserve(calls []*call) {
	if len(calls) == 0 {
		return
	}
	c.group = &group{first: len(c.prompts)}
	for _, k := range calls {
		k.group = c.group
		c.prompts = append(c.prompts, agentstate.ID{})
		c.open[k.ID] = append(c.open[k.ID], k)
		c.queue = append(c.queue, k)
		c.held += k.size()
	}
}

func (k *call) size() int { return len(k.Input) + len(k.Args) + 256 }

// results writes the results of a message of a tool.
func (c *Conversation) results(ctx context.Context, m *session.Message, parts []session.Part) error {
	var rest []session.Part
	for i, part := range parts {
		r, ok := part.(*session.ToolResult)
		if !ok {
			rest = append(rest, part)
			continue
		}
		if i > 0 {
			c.note(loss.MessageDivided)
		}
		if err := c.result(ctx, m, r); err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return nil
	}
	c.note(loss.ResultOrphan)
	again := *m
	again.Simulated = true
	return c.aside(ctx, &again, session.User, rest)
}

func (c *Conversation) result(ctx context.Context, m *session.Message, r *session.ToolResult) error {
	c.extras(r.Extras)
	if t := c.turn; t != nil && t.shell && r.Call == "" && t.output == nil && len(r.Content) == 0 && agentstate.Holds("ShellOutput", r.Value) {
		t.output = append(session.Raw{}, r.Value...)
		return nil
	}
	list := c.open[r.Call]
	if len(list) == 0 {
		return c.orphan(ctx, m, r)
	}
	k := list[0]
	if k.group != c.group {
		c.note(loss.ResultMoved)
	}
	if c.last != nil && !slices.Contains(c.last.calls, k) { // which still waits
		c.late = true
		defer func() { c.late = false }()
	}
	return c.close(ctx, k, m, r)
}

// close writes the result of a call, nil if it has none: as a prompt message, and in the
// call's step.
func (c *Conversation) close(ctx context.Context, k *call, m *session.Message, r *session.ToolResult) error {
	if list := c.open[k.ID][1:]; len(list) > 0 {
		c.open[k.ID] = list
	} else {
		delete(c.open, k.ID)
	}
	k.done = true
	c.held -= k.size()
	defer func(at string) { c.at = at }(c.at)
	if r == nil {
		c.at = k.at
		c.note(loss.ResultAdded)
		m, r = &session.Message{}, &session.ToolResult{Call: k.ID, Error: true, Content: []session.Part{&session.Text{Text: noResult}}}
	}
	k.spelled.End(r)
	for _, code := range k.spelled.Losses {
		switch {
		case code != loss.ToolRecord:
			c.noteAt(k.at, code)
		case k.of != nil:
			c.note(code)
		}
	}
	if r != nil && k.of != nil && k.of == c.turn && c.streams() {
		c.o.Runs.Result(k.id, &k.spelled, known(k.End, m.At))
	}
	c.listed(k)
	if err := c.resultPrompt(ctx, k, m, r); err != nil {
		return err
	}
	c.at = k.at
	t, repaired := k.of, k.of != nil && (halves(k.Args) || halves(r.Value))
	k.of, k.Input, k.Args = nil, nil, nil
	if t == nil {
		c.extras(k.Extras)
		if len(k.spelled.Args) > 0 || len(k.spelled.Value) > 0 || k.Start.Known() || k.End.Known() {
			c.note(loss.CallBeforePrompt)
		}
		k.spelled = cursortools.Call{}
		return nil
	}
	start, end := exact(k.Start), exact(k.End)
	if start != k.Start || end != k.End {
		c.note(loss.PartMetadata)
	}
	if repaired {
		c.note(loss.TextRepaired)
	}
	body, more, rest := c.callFields(k.spelled.Kind, k.Extras)
	outer, rest := c.fields("ConversationStep", rest)
	c.extras(rest)
	data, err := agentstate.CallStep(&agentstate.Call{ID: k.id, Kind: k.spelled.Kind, Args: k.spelled.ArgsBytes, Value: k.spelled.ValueBytes, Start: start, End: end, Body: body, More: more, Outer: outer})
	if err != nil {
		return err
	}
	if t.Steps[k.step], err = c.b.Blob(ctx, data); err != nil {
		return err
	}
	k.spelled = cursortools.Call{}
	if t.open--; t.open == 0 && t.last {
		return c.storeTurn(ctx, t)
	}
	return nil
}

// halves reports whether JSON escapes half a surrogate pair, which a step cannot hold. The
// prompt messages have what the model wrote and saw of a call, but not its record.
func halves(doc []byte) bool {
	if !bytes.Contains(doc, []byte(`\ud`)) && !bytes.Contains(doc, []byte(`\uD`)) {
		return false
	}
	var t rawjson.Tokens
	for t.Reset(doc); t.Next(); {
		if (t.Kind == rawjson.String || t.Kind == rawjson.Name) && t.Halves > 0 {
			return true
		}
	}
	return false
}

// noResult is what the model reads in place of a result that is not known. It is an error,
// because nothing shows that the call succeeded.
const noResult = "(The result of this call is not known.)"

// resultPrompt writes the prompt message of a result at the next place of its answer.
func (c *Conversation) resultPrompt(ctx context.Context, k *call, m *session.Message, r *session.ToolResult) error {
	p := c.newPrompt(session.Tool)
	p.text("id", k.id)
	p.part("tool-result")
	p.text("toolName", k.spelled.Name)
	p.text("toolCallId", k.id)
	c.content(p, k, r)
	if r.Error {
		p.raw("isError", []byte("true"))
	}
	p.end()
	id, err := c.seal(ctx, p, nil, times(nil, m, c.stepEnd(k), session.Stamp{}))
	c.prompts[k.group.first+k.group.used] = id
	k.group.used++
	return err
}

// stepEnd returns the time of a result as its step tells it.
func (c *Conversation) stepEnd(k *call) session.Stamp {
	if k.of == nil {
		return session.Stamp{}
	}
	return exact(k.End)
}

// orphan writes a result without a call as text.
func (c *Conversation) orphan(ctx context.Context, m *session.Message, r *session.ToolResult) error {
	c.note(loss.ResultOrphan)
	var texts []string
	var parts []session.Part
	for _, p := range r.Content {
		if t, ok := p.(*session.Text); ok {
			texts = append(texts, t.Text)
		} else {
			parts = append(parts, p)
		}
	}
	if len(texts) == 0 && len(r.Value) > 0 {
		texts = append(texts, cursortools.Shown("", r.Value))
	}
	text := &session.Text{Text: "Result of a tool call:\n" + strings.Join(texts, "\n")}
	again := *m
	again.Simulated = true
	return c.aside(ctx, &again, session.User, append([]session.Part{text}, parts...))
}

// settle ends the oldest calls without results, until no more than limit bytes wait.
func (c *Conversation) settle(ctx context.Context, limit int) error {
	for len(c.queue) > 0 && (c.queue[0].done || limit == 0 || c.held > limit) {
		k := c.queue[0]
		c.queue = c.queue[1:]
		if !k.done {
			if err := c.close(ctx, k, nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeTurn ends the current turn. It is stored now or with its last result.
func (c *Conversation) closeTurn(ctx context.Context) error {
	t := c.turn
	c.turn, c.group = nil, nil
	if t == nil {
		return nil
	}
	if t.last = true; t.open > 0 {
		return nil
	}
	return c.storeTurn(ctx, t)
}

func (c *Conversation) storeTurn(ctx context.Context, t *turn) (err error) {
	if t.shell {
		c.root.Turns[t.at], err = c.b.ShellTurn(ctx, t.command, t.output)
	} else {
		c.root.Turns[t.at], err = c.b.Turn(ctx, &t.AgentTurn)
	}
	t.Steps = nil
	return err
}
