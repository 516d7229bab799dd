package read

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Chat is a session while it is decoded.
type Chat struct {
	*lists.Entry
	x        *Reader
	Database *lists.Database // of the body; nil if there is no cursorDiskKV
	addr     store.Addr
	Out      session.Session
	tally    session.Account
	note     loss.Sink
	ctx      context.Context

	quiet   bool           // not selected: only its prompts are needed
	typed   []*lists.Typed // prompts that only a list of them has
	headers []header
	runs    []*run // branches, if they are selected
	listed  map[string]bool
	beside  []header          // bubbles in the session's own record that no list names
	rows    map[string]bool   // those of them that have rows, too
	old     map[string][]byte // toolFormerData by bubble, as the first versions kept them apart
	summary string            // of what was compacted
	past    int               // the last header that was compacted
	ended   string            // how the last turn ended, in the client's word

	state     string // conversationState
	newest    string // the id of the newest state's blob
	assembler *assembler
	agent     *agent               // the agent's own state, if it was opened
	spine     bool                 // and it is the conversation
	turns     map[int]session.Turn // of a conversation that rehome wrote: what the state does not hold
	kids      []*agentstate.Child
	started   map[string]string // subagents that the state knows, by their calls
	filled    session.Account   // of the state, if it only fills gaps

	edits             []edit
	asides            []aside
	blocks, originals []byte            // codeBlockData and originalFileStates
	heldBefore        map[string][]byte // what originals says of each file; made when first asked for
	stateFiles        iter.Seq2[*session.File, error]
	texts             texts
	baseOf            string // the file whose text before the session was asked for last
	baseText          []byte
}

// Prepare reads everything of a session except its bubbles.
func (x *Reader) Prepare(ctx context.Context, e *lists.Entry, note loss.Sink) (*Chat, error) {
	if e.Body == lists.InPrompts {
		return x.rest(ctx, e, note)
	}
	c := &Chat{Entry: e, x: x, ctx: ctx, note: note, past: -1}
	if x.Global != nil && x.Global.Disk != nil {
		c.Database = x.Global
	}
	body, heads, err := c.sources(ctx)
	if err != nil {
		return nil, err
	}
	if e.Body == lists.Tombstone {
		return c, c.remains(ctx)
	}
	var f members.Object
	f.SplitBy(body, "", lists.ComposerTable())
	c.fill(&f)
	c.list(&f)
	if err := c.states(ctx, &f); err != nil {
		return nil, err
	}
	if err := c.bubbleFolder(ctx); err != nil {
		return nil, err
	}
	c.headExtras(&f, heads...)
	c.blocks, c.originals = f.Raw(lists.ComBlocks), f.Raw(lists.ComOriginals)
	f.KeepFull(lists.ComBlocks)
	c.Out.Extras = append(c.Out.Extras, f.Settle(&c.tally)...)
	if body == nil {
		c.lacks()
	}
	c.typed = e.Prompts
	unlisted := !f.Stated(lists.ComHeaders) && !f.Stated(lists.ComTalk) && !f.Stated(lists.ComMap)
	return c, c.scan(ctx, body == nil || unlisted && e.Body == lists.InDisk)
}

// lacks says that a session's own record is not there.
func (c *Chat) lacks() {
	at := c.addr
	if at.Set == "" {
		at = store.Addr{Set: lists.DiskTable, Key: store.TextCell([]byte(lists.ComposerRow + c.ID))}
		if c.Database != nil {
			at.File = c.Database.File
		}
	}
	switch {
	case c.Remote:
		c.Out.Status = "remote"
		c.Out.Missing = append(c.Out.Missing, "the conversation: it is kept by Cursor's service")
		c.note.Add(loss.Loss{Code: loss.CloudConversation, At: at})
	case c.Body == lists.InDisk: // it cannot be read, which was noted
		c.Out.Missing = append(c.Out.Missing, "the content of "+lists.ComposerRow+c.ID)
	default:
		c.Out.Missing = append(c.Out.Missing, lists.ComposerRow+c.ID)
		if c.Draft || c.Unlisted { // nothing was sent yet, or only bubbles are left
			return
		}
		c.note.Add(loss.Loss{Code: loss.SessionMissing, At: at})
	}
}

// sources are a session's record, and its heads: those of the old generations
// are records themselves.
func (c *Chat) sources(ctx context.Context) (body []byte, heads [][]byte, err error) {
	e, x := c.Entry, c.x
	if e.Body == lists.InDisk {
		if e.Where != nil {
			c.Database = e.Where.Kept
		}
		r, err := c.Database.Get(ctx, lists.DiskTable, lists.ComposerRow+e.ID, c.note)
		if err != nil {
			return nil, nil, err
		}
		c.count(r.Fate)
		if c.addr, body = r.Addr, r.Body; r.Fate == lists.Deleted {
			e.Body = lists.Tombstone
			return nil, nil, nil
		}
	}
	if e.Table && x.Global != nil {
		r, err := x.Global.Get(ctx, lists.HeadTable, e.ID, func(loss.Loss) {})
		if err != nil {
			return nil, nil, err
		}
		if heads = append(heads, r.Body); e.Body != lists.InDisk {
			c.addr = r.Addr
		}
	}
	for _, at := range e.Heads {
		b, err := x.Pages.Read(ctx, at)
		if err != nil {
			return nil, nil, err
		}
		b = bytes.Clone(b)
		if body == nil && (e.Body == lists.InTab || e.Body == lists.InHead) {
			body, c.addr = b, at.Page.Addr
		} else {
			heads = append(heads, b)
		}
	}
	return body, heads, nil
}

// count enters a record into the books.
func (c *Chat) count(f lists.Fate) {
	if f == lists.Absent {
		return
	}
	c.tally.Read++
	if f == lists.Broken {
		c.tally.Unreadable++
	} else {
		c.tally.Converted++
	}
}

// known reports whether there is a session of that id besides this one.
func (c *Chat) known(id string) bool { return id != c.ID && c.x.ByID[id] != nil }

// list finds the bubbles: those that headers list, in rows of their own or in
// conversationMap; those of an inline conversation; those of a tab.
func (c *Chat) list(f *members.Object) {
	c.listed = map[string]bool{}
	inline := map[string][]byte{}
	for name, value := range rawjson.Members(f.Raw(lists.ComMap)) {
		inline[string(name)] = value
	}
	talk := f.Full(lists.ComTalk)
	for _, i := range [...]int{lists.ComTabBubbles, lists.ComMessages} {
		if talk == nil {
			talk = f.Full(i)
		} else {
			f.KeepFull(i)
		}
	}
	order := c.talk(talk, inline)
	for value := range rawjson.Elements(f.Raw(lists.ComHeaders)) {
		h := header{id: rawjson.TextAt(value, "bubbleId")}
		h.user = string(rawjson.Last(value, "type")) == "1"
		h.at, _ = lists.Moment(rawjson.Last(value, "createdAt"))
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
			for name := range rawjson.Members(f.Raw(lists.ComMap)) {
				c.enter(header{id: string(name), user: userType(inline[string(name)])}, inline)
			}
		}
	}
	for id, value := range inline {
		if !c.listed[id] && !members.Empty(value) {
			order = append(order, id)
		}
	}
	slices.Sort(order)
	for _, id := range slices.Compact(order) {
		if !c.listed[id] {
			c.beside = append(c.beside, header{id: id, user: userType(inline[id]), inline: inline[id]})
		}
	}
	c.capabilities(f)
	c.compacted(f)
}

// talk are the ids of an inline conversation's bubbles, which it puts among the
// others. Of two that are not the same, but have one id, the second gets another.
func (c *Chat) talk(list []byte, inline map[string][]byte) (order []string) {
	seen, times := map[string][]byte{}, map[string]int{}
	for value := range rawjson.Elements(list) {
		id := rawjson.TextAt(value, "bubbleId")
		if id == "" {
			id = cmp.Or(rawjson.TextAt(value, "id"), unnamed(len(order)))
		}
		first, base := seen[id], id
		if bytes.Equal(first, value) {
			c.note.Add(loss.Loss{Code: loss.MessageListedTwice, At: c.addr})
			continue
		}
		for seen[id] != nil || first != nil && inline[id] != nil {
			times[base] = max(2, times[base]+1)
			id = fmt.Sprintf("%s-%d", base, times[base])
		}
		if first != nil {
			c.note.Add(loss.Loss{Code: loss.MessageIDTwice, At: c.addr})
		}
		if seen[id] = value; inline[id] == nil {
			inline[id] = value
		}
		order = append(order, id)
	}
	return order
}

// enter adds a header. One that comes twice is one bubble.
func (c *Chat) enter(h header, inline map[string][]byte) {
	switch {
	case h.id == "":
		c.headers = append(c.headers, h) // see locate
	case c.listed[h.id]:
		c.note.Add(loss.Loss{Code: loss.MessageListedTwice, At: c.addr})
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
func (c *Chat) capabilities(f *members.Object) {
	list := f.Full(lists.ComCapabilities)
	if list == nil {
		return
	}
	f.Drop(lists.ComCapabilities)
	if list[0] != '[' {
		f.KeepAs("capabilities", list)
		return
	}
	for value := range rawjson.Elements(list) {
		for name, v := range rawjson.Members(value) {
			if string(name) != "type" && string(name) != "data" && !members.Empty(v) {
				f.KeepAs("capabilities."+string(name), v)
			}
		}
		data := rawjson.Last(value, "data")
		tools := rawjson.Last(data, "bubbleDataMap")
		if n, _ := members.Whole(rawjson.Last(value, "type")); n != byTool || tools == nil {
			if !members.Empty(data) && data != nil {
				f.KeepAs("capabilities", value)
			}
			continue
		}
		for name, v := range rawjson.Members(lists.EmbeddedJSON(tools)) {
			if !c.listed[string(name)] {
				f.KeepAs("capabilities.bubbleDataMap."+string(name), v)
				continue
			}
			if c.old == nil {
				c.old = map[string][]byte{}
			}
			c.old[string(name)] = v
		}
		for name, v := range rawjson.Members(data) {
			if string(name) != "bubbleDataMap" && !members.Empty(v) {
				f.KeepAs("capabilities."+string(name), v)
			}
		}
	}
}

// compacted finds the last bubble that is not sent to the model any more.
func (c *Chat) compacted(f *members.Object) {
	raw := f.Full(lists.ComSummary)
	last := rawjson.TextAt(raw, "truncationLastBubbleIdInclusive")
	if inner := rawjson.Last(raw, "summary"); last == "" {
		last = rawjson.TextAt(inner, "truncationLastBubbleIdInclusive")
	}
	if last != "" {
		c.past = slices.IndexFunc(c.headers, func(h header) bool { return h.id == last })
	}
	if c.past >= 0 {
		c.summary = summaryText(raw)
	}
	f.KeepFull(lists.ComSummary)
}
