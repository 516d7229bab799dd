package codex

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Who speaks in an item or an event, or what else it states.
const (
	byUser    = "user"
	byModel   = "assistant"
	inThought = "thinking"
	searched  = "search"
	drawn     = "image"
)

// repeats lists the events that repeat items: who speaks in them, and the members that say it.
// Those that begin with a capital are items of item_completed.
var repeats = [...]struct {
	kind, who string
	members   []string
}{
	{"user_message", byUser, []string{"message", "images"}}, {"UserMessage", byUser, []string{"content"}},
	{"agent_message", byModel, []string{"message"}}, {"AgentMessage", byModel, []string{"content"}},
	{"agent_reasoning", inThought, []string{"text"}}, {"agent_reasoning_raw_content", inThought, []string{"text"}},
	{"Reasoning", inThought, []string{"summary_text", "raw_content"}},
	{"web_search_end", searched, []string{"query"}}, {"WebSearch", searched, []string{"query"}},
	{"image_generation_end", drawn, []string{"call_id"}}, {"ImageGeneration", drawn, []string{"id"}},
}

// reported returns the kind of what the client reports, and the object that says more.
func (r *record) reported() (kind string, body []byte) {
	if r.kind == "event_msg" && r.sub == "item_completed" {
		item := rawjson.At(r.body, "item")
		return rawjson.TextAt(item, "type"), item
	}
	return r.sub, r.body
}

// said returns who speaks in a record and what: the texts of an item or an event, and the
// addresses of images.
func (r *record) said() (who string, texts, images []string) {
	add := func(value []byte) {
		if rawjson.IsText(value) {
			texts = append(texts, rawjson.Text(value))
		}
		for b := range rawjson.Elements(value) {
			if url := rawjson.TextAt(b, "image_url"); url != "" {
				images = append(images, url)
			} else if s := rawjson.Text(b); strings.HasPrefix(s, "data:") {
				images = append(images, s)
			} else {
				texts = append(texts, s+rawjson.TextAt(b, "text"))
			}
		}
	}
	kind, body := r.reported()
	switch {
	case ends(r):
		add(rawjson.At(body, "last_agent_message"))
		return byModel, texts, nil
	case r.kind == "event_msg":
		for _, v := range repeats {
			if v.kind == kind {
				for _, name := range v.members {
					add(rawjson.At(body, name))
				}
				return v.who, texts, images
			}
		}
	case r.kind != "response_item":
	case kind == "message":
		who = rawjson.TextAt(body, "role")
		add(rawjson.At(body, "content"))
	case kind == "reasoning":
		who = inThought
		add(rawjson.At(body, "summary"))
		add(rawjson.At(body, "content"))
	case kind == "web_search_call":
		who = searched
		add(rawjson.At(body, "action", "query"))
	case kind == "image_generation_call":
		who = drawn
		add(rawjson.At(body, "id"))
	}
	return who, texts, images
}

// key is a digest of who says what.
type key [sha256.Size]byte

func keyOf(who, words string) key {
	return sha256.Sum256([]byte(who + "\x00" + strings.TrimSpace(words)))
}

// keys returns the digests of what a record says: of each text, or of each image if there is
// no text, and of all texts in one.
func (r *record) keys() (who string, each []key, whole key) {
	who, texts, images := r.said()
	whole = keyOf(who, strings.Join(texts, ""))
	list := texts
	if r.kind == "response_item" || strings.TrimSpace(strings.Join(texts, "")) == "" {
		list = append(list, images...)
	}
	for _, s := range list {
		if strings.TrimSpace(s) != "" {
			each = append(each, keyOf(who, s))
		}
	}
	return who, each, whole
}

// pairs finds the events that repeat an item of the same turn. An item is repeated once: as
// a whole, or each of its texts by itself. What a client showed in a turn that was interrupted
// can have no item. The end of a turn repeats its last answer, and a world_state what the client
// told the model before.
type pairs struct {
	items   map[key][]claim
	events  []event
	answers map[key]bool // what the model said in this turn, in items and events
	told    []string     // what the client and the user told the model
	size    int          // bytes of it
	orphans map[int]bool // events without an item, by the numbers of their records
	states  map[int]bool // world_state lines that say more
}

// claim is what one event can repeat of an item.
type claim struct {
	of    *repeated
	whole bool
}

// repeated says what of an item was repeated.
type repeated struct {
	texts int
	whole bool
}

// event is one that speaks.
type event struct {
	n     int // its record
	who   string
	each  []key
	whole key
}

// take takes a record. begins says that a turn begins with it.
func (p *pairs) take(r *record, n int, begins bool) {
	p.takeState(r, n)
	who, each, whole := r.keys()
	if begins || r.kind == "event_msg" && listed(" task_started turn_started ", r.sub) {
		foretold := false // by the event before it
		if last := len(p.events) - 1; begins && last >= 0 && p.events[last].n == n-1 && p.events[last].whole == whole {
			p.events, foretold = p.events[:last], true
		}
		if p.end(); foretold {
			return
		}
	}
	if len(each) == 0 || who == "" {
		return
	}
	if ends(r) {
		if !p.answers[whole] {
			p.alone(n)
		}
		return
	}
	if who == byModel {
		if p.answers == nil {
			p.answers = map[key]bool{}
		}
		for _, k := range append(each, whole) {
			p.answers[k] = true
		}
	}
	if r.kind == "event_msg" {
		p.events = append(p.events, event{n, who, each, whole})
		return
	}
	if p.items == nil {
		p.items = map[key][]claim{}
	}
	of := &repeated{}
	p.items[whole] = append(p.items[whole], claim{of, true})
	if k := typed(r, who); k != whole {
		p.items[k] = append(p.items[k], claim{of, true})
	}
	for _, k := range each {
		p.items[k] = append(p.items[k], claim{of, false})
	}
}

// typed returns the key of what the user typed of a message.
func typed(r *record, who string) key {
	var own strings.Builder
	for part, kind := range content(r.body) {
		if words := rawjson.TextAt(part, "text"); who != byUser || injected(words, kind) == "" {
			own.WriteString(words)
		}
	}
	return keyOf(who, own.String())
}

// end pairs the events of a turn with its items.
func (p *pairs) end() {
	for _, e := range p.events {
		if p.claim(e.whole) {
			continue
		}
		for _, k := range e.each {
			if !p.claim(k) {
				p.alone(e.n)
			}
		}
	}
	clear(p.items)
	clear(p.answers)
	p.events = p.events[:0]
}

// alone takes the number of an event without an item.
func (p *pairs) alone(n int) {
	if p.orphans == nil {
		p.orphans = map[int]bool{}
	}
	p.orphans[n] = true
}

// ends reports whether an event ends a turn that was not interrupted.
func ends(r *record) bool {
	return r.kind == "event_msg" && listed(" task_complete turn_complete ", r.sub)
}

// maxTold is how many bytes of what the client told the model are compared.
const maxTold = 1 << 20

// takeState compares a world_state with what the client told the model: its sentences, and toldStates.
func (p *pairs) takeState(r *record, n int) {
	if r.kind == "response_item" && r.sub == "message" && rawjson.TextAt(r.body, "role") != byModel {
		for part := range rawjson.Elements(rawjson.At(r.body, "content")) {
			if words := rawjson.TextAt(part, "text"); !slices.Contains(p.told, words) && len(words)+p.size < maxTold {
				p.told, p.size = append(p.told, words), p.size+len(words)
			}
		}
	}
	if !listed(repeatLines, r.kind) {
		return
	}
	says := func(s string) {
		if s = strings.TrimSpace(s); s != "" && !slices.ContainsFunc(p.told, func(told string) bool { return strings.Contains(told, s) }) {
			if p.states == nil {
				p.states = map[int]bool{}
			}
			p.states[n] = true
		}
	}
	for s := range session.Strings(r.body) {
		if strings.ContainsAny(strings.TrimSpace(s), " \n") {
			says(s)
		}
	}
	for _, path := range toldStates {
		says(rawjson.TextAt(rawjson.At(r.body, "state"), path...))
	}
}

// toldStates are the members of a world_state that the client tells the model, whatever they say.
var toldStates = [...][]string{
	{"agents_md", "directory"}, {"agents_md", "text"}, {"environments", "current_date"}, {"environments", "timezone"},
	{"environments", "environments", "local", "cwd"}, {"environments", "environments", "local", "shell"},
}

// claim takes an item that says the same, if one is left.
func (p *pairs) claim(k key) bool {
	for len(p.items[k]) > 0 {
		c := p.items[k][0]
		p.items[k] = p.items[k][1:]
		switch {
		case c.of.whole, c.whole && c.of.texts > 0:
			continue // it was repeated
		case c.whole:
			c.of.whole = true
		default:
			c.of.texts++
		}
		return true
	}
	return false
}

// reported takes what the client reports. Most of it repeats an item. What it reports of a
// call before the result becomes part of that.
func (d *decoder) reported(r *record) {
	kind, body := r.reported()
	id := cmp.Or(rawjson.TextAt(body, "call_id"), rawjson.TextAt(body, "id"))
	said, open := d.waiting[id]
	switch {
	case d.pairs.orphans[d.n]:
		d.orphan(r)
	case listed(turnEvents, kind):
		d.account.Converted++
	case listed(repeatEvents, kind), listed(viewEvents, kind) && open:
		d.account.Superseded++
	case listed(resultEvents, kind) && open && said.n == 0:
		said.n, said.Message = d.n, d.message(r, session.System, &session.Opaque{Kind: kind, Raw: members.Bare(kind, body)})
		said.Extras = r.outer()
		d.account.Converted++
	default:
		d.opaque(r, kind, body)
	}
}

// orphan takes an event that repeats no item.
func (d *decoder) orphan(r *record) {
	kind, body := r.reported()
	who, texts, images := r.said()
	if who == searched || who == drawn {
		d.opaque(r, kind, body)
		return
	}
	from := session.Source{From: "events"}
	var o members.Object
	o.Split(body, "", []string{"type", "id", "message", "images", "text", "content", "summary_text", "raw_content", "last_agent_message"})
	d.account.Converted++
	m := d.message(r, session.Assistant)
	for _, t := range texts {
		if who == inThought {
			m.Parts = append(m.Parts, &session.Thinking{Text: t, Source: from})
		} else if t != "" {
			m.Parts = append(m.Parts, &session.Text{Text: t, Source: from})
		}
	}
	for _, url := range images {
		m.Parts = append(m.Parts, media(url, from))
	}
	if m.Extras = append(o.Extras, r.outer()...); who == byUser {
		m.Role, m.Turn = session.User, d.number(&session.Turn{Start: r.time})
	}
	d.lose(loss.EventUnsent, r.at)
	d.hand(m)
}
