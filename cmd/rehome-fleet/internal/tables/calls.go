package tables

import (
	"unique"

	"rehome/formats/session"
)

// maxPending is how much of calls waits for their results, in bytes.
const maxPending = 16 << 20

// calls are the calls of a session that wait for their results, because their rows have
// the status of the result.
type calls struct {
	put     func(*ToolCall) error
	waiting []*ToolCall // in order: the first one without a result, and all that follow
	size    int
	next    int // the number of the next call
	match   matcher

	// lookup calls f with the messages of the session, from the first one on.
	lookup func(f func(*session.Message) error) error
	known  map[int]answer // by number of the call, once the results were looked up
}

// answer is what the row of a call has of its result.
type answer struct {
	status string
	err    bool
	bytes  int64
}

func (a answer) to(row *ToolCall) {
	row.Answered, row.Status, row.Error, row.ResultBytes = true, a.status, &a.err, &a.bytes
}

func sizeOf(row *ToolCall) int { return 512 + len(row.Args) + len(row.Input) }

// matcher finds the call of a result: the first with its id that has none.
type matcher map[string][]int

func (m matcher) call(id string, number int) { m[id] = append(m[id], number) }

func (m matcher) result(id string) (number int, ok bool) {
	of := m[id]
	if len(of) == 0 {
		return 0, false
	}
	if m[id] = of[1:]; len(of) == 1 {
		delete(m, id)
	}
	return of[0], true
}

// add adds a call.
func (c *calls) add(row *ToolCall) error {
	number := c.next
	if c.next++; c.known != nil {
		if a, ok := c.known[number]; ok {
			a.to(row)
		}
		return c.put(row)
	}
	if c.match == nil {
		c.match = matcher{}
	}
	c.match.call(row.CallID, number)
	c.waiting = append(c.waiting, row)
	if c.size += sizeOf(row); c.size <= maxPending {
		return nil
	}
	return c.lookAhead()
}

// answer gives a call its result.
func (c *calls) answer(id string, a answer) error {
	if c.known != nil {
		return nil
	}
	if number, ok := c.match.result(id); ok {
		a.to(c.waiting[number-c.next+len(c.waiting)])
	}
	return c.release(false)
}

// release adds the rows of the first calls as far as they have a result, or all.
func (c *calls) release(all bool) error {
	for len(c.waiting) > 0 && (all || c.waiting[0].Answered) {
		row := c.waiting[0]
		c.waiting[0], c.waiting = nil, c.waiting[1:]
		c.size -= sizeOf(row)
		if err := c.put(row); err != nil {
			return err
		}
	}
	return nil
}

// end adds the rows that are left: their calls have no result.
func (c *calls) end() error { return c.release(true) }

// lookAhead reads the session once more, for the results of all calls: too much waits
// for one that may never come.
func (c *calls) lookAhead() error {
	known, match, number := map[int]answer{}, matcher{}, 0
	err := c.lookup(func(m *session.Message) error {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case *session.ToolCall:
				match.call(p.ID, number)
				number++
			case *session.ToolResult:
				if of, ok := match.result(p.Call); ok {
					known[of] = answer{unique.Make(p.Status).Value(), p.Error, textOf(p).size}
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	first := c.next - len(c.waiting)
	for i, row := range c.waiting {
		if a, ok := known[first+i]; ok {
			a.to(row)
		}
	}
	c.known, c.match = known, nil
	return c.release(true)
}

// textOf returns what the model saw of a result.
func textOf(p *session.ToolResult) (text joined) {
	for _, part := range p.Content {
		if t, ok := part.(*session.Text); ok {
			text.add(t.Text)
		}
	}
	return text
}
