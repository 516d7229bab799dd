package write

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

//go:embed tools.txt
var tables embed.FS

// tool is how the client spells the tools of a kind.
type tool struct {
	number  int
	name    string
	params  map[string]string // names by ours
	results map[string]string
	shown   string // the member of a result for what the model was shown
}

var tools = sync.OnceValue(func() map[string]*tool {
	text, err := tables.ReadFile("tools.txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	out := map[string]*tool{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		t := &tool{name: words[2], params: map[string]string{}, results: map[string]string{}}
		t.number, _ = strconv.Atoi(words[1])
		for _, w := range words[3:] {
			if theirs, ours, ok := strings.Cut(w, "="); ok {
				t.params[ours] = theirs
			} else if theirs, ours, ok := strings.Cut(w, "<"); ok {
				t.results[ours] = theirs
			} else {
				t.shown = strings.TrimSuffix(w, "~")
			}
		}
		out[words[0]] = t
	}
	return out
})

// call is a call whose result has not come. Its bubble is in the list already.
type call struct {
	session.ToolCall
	bubble *bubble
	done   bool
}

// maxHeld is how many bytes of calls wait for results.
const maxHeld = 32 << 20

func (k *call) size() int { return len(k.Input) + len(k.Args) + len(k.bubble.B) + 256 }

// call begins the bubble of a call.
func (c *composer) call(m *session.Message, t *session.ToolCall) {
	k := &call{ToolCall: *t}
	k.Input, k.Args, k.Extras = append(session.Raw(nil), t.Input...), append(session.Raw(nil), t.Args...), nil
	k.bubble = c.begin(m, byAssistant, byTool, "")
	c.buf = nil // the bubble keeps it
	c.open[k.ID] = append(c.open[k.ID], k)
	c.queue = append(c.queue, k)
	c.held += k.size()
	c.settle(maxHeld)
}

// settle writes the oldest calls, which have no results yet, until no more than limit
// bytes wait.
func (c *composer) settle(limit int) {
	for len(c.queue) > 0 && (c.queue[0].done || limit == 0 || c.held > limit) {
		k := c.queue[0]
		c.queue = c.queue[1:]
		if !k.done {
			c.close(k, nil, nil)
		}
	}
}

// result writes the bubble of a call with its result. The first of two calls with one id
// gets the first result.
func (c *composer) result(m *session.Message, r *session.ToolResult) {
	if list := c.open[r.Call]; len(list) > 0 {
		c.close(list[0], m, r)
	}
}

// close writes the bubble of a call.
func (c *composer) close(k *call, m *session.Message, r *session.ToolResult) {
	if list := c.open[k.ID][1:]; len(list) > 0 {
		c.open[k.ID] = list
	} else {
		delete(c.open, k.ID)
	}
	c.held -= k.size()
	k.done = true
	b := k.bubble
	b.Name("toolFormerData")
	o := object.New(b.B)
	spelled := cursortools.Spell(c.s.Agent, &k.ToolCall, r)
	t := tools()[spelled.Kind]
	if t == nil {
		t = &tool{name: spelled.Name}
	} else {
		o.Num("tool", t.number)
	}
	o.Num("toolIndex", 0)
	o.Text("toolCallId", k.ID)
	o.Text("name", t.name)
	params, value := rename(spelled.Args, t.params), []byte(nil)
	if c.s.Agent == session.CursorIDE { // it is spelled so already
		params = k.Args
	}
	o.Text("rawArgs", string(spelled.Input))
	o.Text("params", string(params))
	switch {
	case r == nil:
	case c.s.Agent == session.CursorIDE && len(r.Value) > 0:
		value = c.kept(r)
	default:
		if value = t.value(&spelled, r); spelled.Kind == "edit" {
			value = c.moved(value)
		}
	}
	if r != nil {
		if o.NonEmpty("result", string(value)); outcome(&o, r) == "completed" && shown(r) != "" && !says(value) {
			c.noteAt(m, loss.PartHidden)
		}
	} else if !c.own() {
		o.Text("status", "cancelled") // else the client shows it as running
	}
	o.Raw("additionalData", []byte("{}"))
	b.B = o.Done()
	c.save(b)
	k.bubble, k.Input, k.Args = nil, nil, nil
}

// says reports whether a record has a text.
func says(record []byte) bool {
	for {
		at := bytes.IndexByte(record, '"')
		if at < 0 {
			return false
		}
		end, err := rawjson.End(record, at)
		if err != nil {
			return false
		}
		text := record[at+1 : end-1]
		if record = bytes.TrimLeft(record[end:], " \t\r\n"); len(text) > 0 && !bytes.HasPrefix(record, []byte(":")) {
			return true
		}
	}
}

// outcome writes how a call ended, and returns its status.
func outcome(o *object.Writer, r *session.ToolResult) (status string) {
	switch {
	case r.Status == "rejected":
		status = "cancelled"
		o.Text("status", status)
		o.Text("userDecision", "rejected")
	case r.Error && r.Status != "failure":
		status = "error"
		o.Text("status", status)
		e := object.New(nil)
		e.Text("clientVisibleErrorMessage", shown(r))
		e.Text("modelVisibleErrorMessage", shown(r))
		o.Text("error", string(e.Done()))
	default:
		status = "completed"
		o.Text("status", status)
	}
	return status
}

// shown returns the text that the model was shown of a result.
func shown(r *session.ToolResult) string {
	var texts []string
	for _, p := range r.Content {
		if t, ok := p.(*session.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// value returns the record of a result: the members of its outcome, by their names.
func (t *tool) value(c *cursortools.Call, r *session.ToolResult) []byte {
	var inner []byte
	for name, v := range rawjson.Members(c.Value) {
		if inner == nil && len(v) > 0 && v[0] == '{' && string(name) != "sandboxPolicy" {
			inner = v
		}
	}
	out := rename(inner, t.results)
	text := shown(r)
	if t.shown == "" || text == "" || rawjson.Last(out, t.shown) != nil {
		return out
	}
	o := object.New(nil)
	for name, v := range rawjson.Members(out) {
		o.Raw(escaped(name), v)
	}
	o.Text(t.shown, text)
	return o.Done()
}

// rename returns an object with other names of members.
func rename(doc []byte, names map[string]string) []byte {
	if len(doc) == 0 || doc[0] != '{' || len(names) == 0 {
		return doc
	}
	o := object.New(nil)
	for name, v := range rawjson.Members(doc) {
		if other := names[string(name)]; other != "" {
			name = []byte(other)
		}
		o.Raw(escaped(name), v)
	}
	return o.Done()
}

// contentIDs are the members of an edit's result that name the file's content, and those
// that older versions have it in.
var contentIDs = [...]struct{ id, text string }{{"beforeContentId", "contentsBeforeEdit"}, {"afterContentId", "contentsAfterEdit"}}

func contentKey(text []byte) string {
	sum := sha256.Sum256(text)
	return lists.ContentRow + hex.EncodeToString(sum[:])
}

// content writes the content of a file, and returns the key of its row. Nothing has none.
func (c *composer) content(text []byte) string {
	key := contentKey(text)
	if len(text) > 0 && c.disk.once(key) {
		c.disk.row(key, text, false)
	}
	return key
}

// moved returns the result of an edit with the file's content in rows of its own, where the
// client looks for it to show and undo the edit.
func (c *composer) moved(result []byte) []byte {
	o, found := object.New(nil), false
	for name, v := range rawjson.Members(result) {
		at := slices.IndexFunc(contentIDs[:], func(m struct{ id, text string }) bool { return m.text == string(name) })
		if text := rawjson.Text(v); at >= 0 && utf8.ValidString(text) {
			o.Text(contentIDs[at].id, c.content([]byte(text)))
			found = true
		} else {
			o.Raw(escaped(name), v)
		}
	}
	if !found {
		return result
	}
	return o.Done()
}

// kept returns the result of an edit of this client's, whose content is written, too. What
// is missing is not named.
func (c *composer) kept(r *session.ToolResult) []byte {
	var sides [2]*session.Body
	if r.FileChange != nil {
		sides[0], sides[1] = r.FileChange()
	}
	var gone []string
	for i, side := range sides {
		if side != nil && utf8.Valid(side.Bytes) {
			c.content(side.Bytes)
		} else {
			gone = append(gone, contentIDs[i].id)
		}
	}
	return without(r.Value, gone...)
}

// without returns an object without some members.
func without(doc []byte, names ...string) []byte {
	if doc[0] != '{' || !slices.ContainsFunc(names, func(name string) bool { return rawjson.Last(doc, name) != nil }) {
		return doc
	}
	o := object.New(nil)
	for name, v := range rawjson.Members(doc) {
		if !slices.Contains(names, string(name)) {
			o.Raw(escaped(name), v)
		}
	}
	return o.Done()
}

// escaped returns a name as JSON has it between quotes.
func escaped(name []byte) string {
	b := session.AppendString(nil, string(name))
	return string(b[1 : len(b)-1])
}
