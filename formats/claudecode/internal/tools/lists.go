package tools

import (
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/internal/rawjson"
)

// item is an object of a list while it is translated.
type item struct {
	given
	o     object.Writer
	names []string // of the members that were written
}

func newItem(raw []byte) *item {
	return &item{given: given{docs: [][]byte{raw, nil}}, o: object.New(nil)}
}

func (i *item) put(name string, value []byte) {
	i.o.Raw(escaped(name), value)
	i.names = append(i.names, name)
}

// copy writes a text under the first of its names; false if it is not there.
func (i *item) copy(names ...string) bool {
	text := i.text(names...)
	if text != "" {
		i.put(names[0], appendText(nil, text))
	}
	return text != ""
}

// done writes all other members as they are; false if one has the name of one that was written.
func (i *item) done() ([]byte, bool) {
	for _, m := range i.rest() {
		if m.value == nil || slices.Contains(i.names, m.name) {
			return nil, false
		}
		i.put(m.name, m.value)
	}
	return i.o.Done(), true
}

// numbered leaves out an id that says no more than the place in the list, as Cursor's tools have it.
func (i *item) numbered(id string) {
	if raw := i.find("id"); rawjson.Text(raw) == id {
		i.use(raw, "id")
	}
}

// escaped is a member's name as JSON spells it.
func escaped(name string) string {
	b := appendText(nil, name)
	return string(b[1 : len(b)-1])
}

// list translates each element of a list; false if one cannot be, or it is no list.
func list(raw []byte, of func(n int, element []byte) ([]byte, bool)) ([]byte, bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	out, n := []byte{'['}, 0
	for element := range rawjson.Elements(raw) {
		n++
		one, ok := of(n, element)
		if !ok {
			return nil, false
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, one...)
	}
	return append(out, ']'), true
}

// todos is a list of things to do.
func todos(g *given) (n Native, ok bool) {
	names := []string{"todos", "plan"}
	raw := g.find(names...)
	out, ok := list(raw, func(number int, element []byte) ([]byte, bool) {
		one := newItem(element)
		one.numbered(strconv.Itoa(number))
		if !one.copy("content", "subject", "title", "step") {
			return nil, false // part of a list: only what changed
		}
		status := one.find("status")
		word, same := state(rawjson.Text(status))
		if !same {
			n.Left = []string{"todos.status"}
		}
		one.use(status, "status")
		one.put("status", appendText(nil, word))
		if !one.copy("activeForm") {
			one.put("activeForm", rawjson.Last(one.o.B, "content"))
		}
		return one.done()
	})
	if !ok {
		return Native{}, false
	}
	g.use(raw, names...)
	o := object.New(nil)
	o.Raw("todos", out)
	n.Name, n.Input = "TodoWrite", o.Done()
	return n, true
}

// state is one of the three that Claude Code has. same: it says what the word said.
func state(word string) (status string, same bool) {
	word = toolmap.Snake(strings.TrimPrefix(word, "TO"+"DO_STATUS_"))
	switch strings.ReplaceAll(strings.ToLower(word), "_", "") {
	case "completed", "done":
		return "completed", true
	case "inprogress":
		return "in_progress", true
	case "pending", "":
		return "pending", true
	case "cancelled", "canceled":
		return "completed", false
	}
	return "pending", false
}

// asked returns questions to the user.
func asked(g *given) (Native, bool) {
	raw := g.find("questions")
	out, ok := list(raw, question)
	if !ok || len(out) == 2 {
		return Native{}, false
	}
	g.use(raw, "questions")
	o := object.New(nil)
	o.Raw("questions", out)
	return Native{Name: "AskUserQuestion", Input: o.Done()}, true
}

func question(number int, element []byte) ([]byte, bool) {
	one := newItem(element)
	one.numbered("q" + strconv.Itoa(number))
	if !one.copy("question", "prompt") {
		return nil, false
	}
	one.copy("header")
	if options := one.find("options"); len(options) > 0 {
		out, ok := list(options, option)
		if !ok {
			return nil, false
		}
		one.use(options, "options")
		one.put("options", out)
	}
	names := []string{"multiSelect", "allow_multiple", "allowMultiple"}
	switch many := one.find(names...); string(many) {
	case "true", "false":
		one.use(many, names...)
		one.put(names[0], many)
	default:
		one.put(names[0], []byte("false"))
	}
	return one.done()
}

func option(_ int, element []byte) ([]byte, bool) {
	one := newItem(element)
	one.numbered(rawjson.TextAt(element, "label"))
	if rawjson.IsText(element) {
		one.put("label", element)
	} else if !one.copy("label") {
		return nil, false
	}
	one.copy("description")
	return one.done()
}
