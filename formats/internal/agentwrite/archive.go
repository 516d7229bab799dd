package agentwrite

import (
	"context"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// archive is the end of what a compaction archived, and the summary that replaces it.
type archive struct {
	end     int // in prompts
	text    string
	summary agentstate.ID
}

// noSummary is what the model reads in place of a summary that is not known.
const noSummary = "The conversation up to here was compacted. Its summary was not kept."

// boundary writes where the client compacted the conversation.
func (c *Conversation) boundary(ctx context.Context, m *session.Message, parts []session.Part) error {
	var texts []string
	archived := 0
	for _, p := range parts {
		switch p := p.(type) {
		case *session.Boundary:
			archived = p.Archived
			c.extras(p.Extras)
		case *session.Summary:
			texts = append(texts, c.clean(p.Text))
			c.extras(p.Extras)
		}
	}
	if c.o.FullHistory {
		c.note(loss.SummaryUnused)
		return nil
	}
	if len(texts) == 0 {
		c.note(loss.SummaryUnknown)
		texts = []string{noSummary}
	}
	if first := c.firstLive(); c.kept == len(c.prompts)-first && archived > 0 {
		c.kept = 0 // nothing says which messages are archived
	}
	if c.kept > 0 {
		c.note(loss.MessageKept)
	}
	c.begun, c.loose, c.group, c.last = true, true, nil, nil
	p := c.newPrompt(session.User)
	for _, text := range texts {
		p.textPart(text, provided{}, nil)
	}
	id, err := c.seal(ctx, p, []byte(`"isSummary":true`), times(nil, m, session.Stamp{}, session.Stamp{}))
	c.ended = append(c.ended, archive{len(c.prompts) - c.kept, strings.Join(texts, agentstate.BetweenSummaries), id})
	return err
}

// firstLive returns the first prompt message after the last compaction.
func (c *Conversation) firstLive() int {
	if n := len(c.ended); n > 0 {
		return c.ended[n-1].end
	}
	return c.lead
}

// keep counts the prompt messages before the next compaction that it does not archive.
func (c *Conversation) keep(m *session.Message) {
	if !m.Archived {
		c.kept++
		return
	}
	if c.kept > 0 {
		c.note(loss.MessageArchived)
	}
	c.kept = 0
}

// compact stores the archives, and leaves in the root what the model sees.
func (c *Conversation) compact(ctx context.Context) error {
	from := c.lead
	for _, a := range c.ended {
		id, err := c.b.Archive(ctx, c.prompts[from:a.end], a.text, a.summary)
		if err != nil {
			return err
		}
		c.root.Archives = append(c.root.Archives, id)
		from = a.end
	}
	c.root.Prompts = c.prompts
	if n := len(c.ended); n > 0 {
		live := append(append([]agentstate.ID{}, c.prompts[:c.lead]...), c.ended[n-1].summary)
		c.root.Prompts = append(live, c.prompts[from:]...)
	}
	return nil
}
