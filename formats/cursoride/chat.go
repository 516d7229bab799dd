package cursoride

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// chat is a session while it is decoded.
type chat struct {
	*entry
	x     *index
	shelf *shelf // of the body; nil if there is no cursorDiskKV
	addr  store.Addr
	out   session.Session
	tally session.Account
	note  loss.Sink
	ctx   context.Context

	quiet   bool     // nobody wants it, but what is asked in it is to be heard
	typed   []*typed // prompts that only a list of them has
	headers []header
	runs    []*run // branches, where they are wanted
	listed  map[string]bool
	old     map[string][]byte // toolFormerData by bubble, as the first versions kept them apart
	summary string            // of what was compacted
	past    int               // the last header that was
	ended   string            // how the last turn ended, in the client's word

	state   string // conversationState
	newest  string // the id of the newest state's blob
	desk    *desk
	agent   *agent // the agent's own state, where it was opened
	spine   bool   // there is nothing else
	kids    []*agentstate.Child
	started map[string]string // subagents that the state knows, by their calls
	filled  session.Account   // of the state, where it only fills gaps

	edits             []edit
	asides            []aside
	blocks, originals []byte            // codeBlockData and originalFileStates
	heldBefore        map[string][]byte // what originals says of each file; made when first asked for
	stateFiles        iter.Seq2[*session.File, error]
	texts             texts
	baseOf            string // the file whose text before the session was asked for last
	baseText          []byte
}

// prepare reads all of a session but its bubbles.
func (x *index) prepare(ctx context.Context, e *entry, note loss.Sink) (*chat, error) {
	if e.body == inTyped {
		return x.rest(ctx, e, note)
	}
	c := &chat{entry: e, x: x, ctx: ctx, note: note, past: -1}
	if x.global != nil && x.global.disk != nil {
		c.shelf = x.global
	}
	body, heads, err := c.sources(ctx)
	if err != nil {
		return nil, err
	}
	if e.body == deletedC {
		return c, c.remains(ctx)
	}
	var f fields
	f.split(body, "", composerTable())
	c.fill(&f)
	c.list(&f)
	if err := c.states(ctx, &f); err != nil {
		return nil, err
	}
	if err := c.bubbleFolder(ctx); err != nil {
		return nil, err
	}
	c.headExtras(&f, heads...)
	c.blocks, c.originals = f.raw(comBlocks), f.raw(comOriginals)
	f.keepFull(comBlocks)
	c.out.Extras = append(c.out.Extras, f.settle(&c.tally)...)
	if body == nil {
		c.lacks()
	}
	c.typed = e.prompts
	unlisted := f.found[comHeaders] == nil && f.found[comTalk] == nil && f.found[comMap] == nil
	return c, c.scan(ctx, body == nil || unlisted && e.body == inDisk)
}

// lacks says that a session's own record is not there.
func (c *chat) lacks() {
	at := c.addr
	if at.Set == "" {
		at = store.Addr{Set: diskTable, Key: store.TextCell([]byte(composerRow + c.id))}
		if c.shelf != nil {
			at.File = c.shelf.file
		}
	}
	switch {
	case c.remote:
		c.out.Status = "remote"
		c.out.Missing = append(c.out.Missing, "the conversation: it is kept by Cursor's service")
		c.note(loss.Loss{Code: loss.CloudConversation, At: at})
	case c.body == inDisk: // it cannot be read, which was noted
		c.out.Missing = append(c.out.Missing, "the content of "+composerRow+c.id)
	default:
		c.out.Missing = append(c.out.Missing, composerRow+c.id)
		if c.draft { // nothing was sent yet
			return
		}
		c.note(loss.Loss{Code: loss.SessionMissing, At: at})
	}
}

// sources are a session's record, and its heads: those of the old generations
// are records themselves.
func (c *chat) sources(ctx context.Context) (body []byte, heads [][]byte, err error) {
	e, x := c.entry, c.x
	if e.body == inDisk {
		if e.where != nil {
			c.shelf = e.where.kept
		}
		r, err := c.shelf.get(ctx, diskTable, composerRow+e.id, c.note)
		if err != nil {
			return nil, nil, err
		}
		c.count(r.fate)
		if c.addr, body = r.addr, r.body; r.fate == deleted {
			e.body = deletedC
			return nil, nil, nil
		}
	}
	if e.table && x.global != nil {
		r, err := x.global.get(ctx, headTable, e.id, func(loss.Loss) {})
		if err != nil {
			return nil, nil, err
		}
		if heads = append(heads, r.body); e.body != inDisk {
			c.addr = r.addr
		}
	}
	for _, at := range e.heads {
		b, err := x.pages.read(ctx, at)
		if err != nil {
			return nil, nil, err
		}
		b = bytes.Clone(b)
		if body == nil && (e.body == inTab || e.body == inHead) {
			body, c.addr = b, at.page.addr
		} else {
			heads = append(heads, b)
		}
	}
	return body, heads, nil
}

// count enters a record into the books.
func (c *chat) count(f fate) {
	if f == absent {
		return
	}
	c.tally.Read++
	if f == broken {
		c.tally.Unreadable++
	} else {
		c.tally.Converted++
	}
}

// known reports whether there is a session of that id besides this one.
func (c *chat) known(id string) bool { return id != c.id && c.x.byID[id] != nil }

// list finds the bubbles: those that headers list, in rows of their own or in
// conversationMap; those of an inline conversation; those of a tab.
func (c *chat) list(f *fields) {
	c.listed = map[string]bool{}
	inline := map[string][]byte{}
	for name, value := range rawjson.Members(f.raw(comMap)) {
		inline[string(name)] = value
	}
	talk := f.full(comTalk)
	for _, i := range [...]int{comTabBubbles, comMessages} {
		if talk == nil {
			talk = f.full(i)
		} else {
			f.keepFull(i)
		}
	}
	order := c.talk(talk, inline)
	for value := range rawjson.Elements(f.raw(comHeaders)) {
		h := header{id: rawjson.Text(rawjson.Last(value, "bubbleId"))}
		h.user = string(rawjson.Last(value, "type")) == "1"
		h.at, _ = moment(rawjson.Last(value, "createdAt"))
		for name := range rawjson.Members(value) {
			if odd(name) || string(name) == "serverBubbleId" {
				h.more = value
			}
		}
		c.enter(h, inline)
	}
	if len(c.headers) == 0 {
		for _, id := range order {
			c.enter(header{id: id, user: userType(inline[id])}, inline)
		}
		if len(order) == 0 { // a map alone: in the order in which it stands
			for name := range rawjson.Members(f.raw(comMap)) {
				c.enter(header{id: string(name), user: userType(inline[string(name)])}, inline)
			}
		}
	}
	for id, value := range inline {
		if !c.listed[id] && !hollow(value) {
			order = append(order, id)
		}
	}
	slices.Sort(order)
	for _, id := range slices.Compact(order) {
		if !c.listed[id] {
			if e, ok := bare("conversation."+id, inline[id]); ok {
				c.out.Extras = append(c.out.Extras, e)
			}
		}
	}
	c.capabilities(f)
	c.compacted(f)
}

// talk are the ids of an inline conversation's bubbles, which it puts among the
// others. Of two that are not the same, but have one id, the second gets another.
func (c *chat) talk(list []byte, inline map[string][]byte) (order []string) {
	seen, times := map[string][]byte{}, map[string]int{}
	for value := range rawjson.Elements(list) {
		id := rawjson.Text(rawjson.Last(value, "bubbleId"))
		if id == "" {
			id = cmp.Or(rawjson.Text(rawjson.Last(value, "id")), unnamed(len(order)))
		}
		first, base := seen[id], id
		if bytes.Equal(first, value) {
			c.note(loss.Loss{Code: loss.MessageListedTwice, At: c.addr})
			continue
		}
		for seen[id] != nil || first != nil && inline[id] != nil {
			times[base] = max(2, times[base]+1)
			id = fmt.Sprintf("%s-%d", base, times[base])
		}
		if first != nil {
			c.note(loss.Loss{Code: loss.MessageIDTwice, At: c.addr})
		}
		if seen[id] = value; inline[id] == nil {
			inline[id] = value
		}
		order = append(order, id)
	}
	return order
}

// enter adds a header. One that comes twice is one bubble.
func (c *chat) enter(h header, inline map[string][]byte) {
	switch {
	case h.id == "":
		c.headers = append(c.headers, h) // see locate
	case c.listed[h.id]:
		c.note(loss.Loss{Code: loss.MessageListedTwice, At: c.addr})
	default:
		c.listed[h.id] = true
		h.inline = inline[h.id]
		c.headers = append(c.headers, h)
	}
}

func userType(bubble []byte) bool {
	kind := rawjson.Last(bubble, "type")
	if kind == nil {
		kind = rawjson.Last(bubble, "role")
	}
	return string(kind) == "1" || string(kind) == `"user"`
}

// capabilities finds the tools of the first versions, which lie apart from the
// bubbles: an object, or one in a string. All else that they say is kept.
func (c *chat) capabilities(f *fields) {
	list := f.full(comCapabilities)
	if list == nil {
		return
	}
	f.found[comCapabilities] = nil
	if list[0] != '[' {
		f.keepAs("capabilities", list)
		return
	}
	for value := range rawjson.Elements(list) {
		data := rawjson.Last(value, "data")
		tools := rawjson.Last(data, "bubbleDataMap")
		if n, _ := whole(rawjson.Last(value, "type")); n != byTool || tools == nil {
			if !hollow(data) && data != nil {
				f.keepAs("capabilities", value)
			}
			continue
		}
		for name, v := range rawjson.Members(spelled(tools)) {
			if !c.listed[string(name)] {
				f.keepAs("capabilities.bubbleDataMap."+string(name), v)
				continue
			}
			if c.old == nil {
				c.old = map[string][]byte{}
			}
			c.old[string(name)] = v
		}
		for name, v := range rawjson.Members(data) {
			if string(name) != "bubbleDataMap" && !hollow(v) {
				f.keepAs("capabilities."+string(name), v)
			}
		}
	}
}

// compacted finds the last bubble that is not sent to the model any more.
func (c *chat) compacted(f *fields) {
	raw := f.full(comSummary)
	last := rawjson.Text(rawjson.Last(raw, "truncationLastBubbleIdInclusive"))
	if inner := rawjson.Last(raw, "summary"); last == "" {
		last = rawjson.Text(rawjson.Last(inner, "truncationLastBubbleIdInclusive"))
	}
	if last != "" {
		c.past = slices.IndexFunc(c.headers, func(h header) bool { return h.id == last })
	}
	if c.past >= 0 {
		c.summary = summaryText(raw)
	}
	f.keepFull(comSummary)
}
