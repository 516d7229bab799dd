package cursortools

import (
	"strconv"
	"strings"

	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// array returns an array of the objects that fill writes, one for each object in a list.
func array(list []byte, fill func(n int, d doc, o *object.Writer)) []byte {
	return object.Array(list, func(n int, item []byte, o *object.Writer) { fill(n, parse(item), o) })
}

// The names of what there is to do.
var todoNames = []string{"content", "subject", "title", "step"}

// todos returns a list of things to do, as Cursor's messages have them.
func todos(list []byte) []byte {
	return array(list, func(n int, d doc, o *object.Writer) {
		todoHead(n, d, o)
		if status := todoStatus(d); status != "" {
			o.Text("status", "TO"+"DO_STATUS_"+strings.ToUpper(status))
		}
		for _, name := range [...]string{"createdAt", "updatedAt"} {
			if v, ok := whole(append([]byte(nil), d.get(name)...), 1, 1<<53); ok {
				o.Raw(name, v)
			}
		}
		if list := d.get("dependencies"); len(list) > 2 && list[0] == '[' {
			o.Raw("dependencies", list)
		}
	})
}

// todoHead writes the id and the content of a thing to do. One without an id gets its
// number.
func todoHead(n int, d doc, o *object.Writer) {
	id := bare(d.get("id"))
	if id == "" {
		id = strconv.Itoa(n)
	}
	o.Text("id", id)
	o.NonEmpty("content", rawjson.Text(d.get(todoNames...)))
}

// todoStatus returns one of the four that Cursor has, "" for any other.
func todoStatus(d doc) string {
	switch s := toolmap.Snake(enumWord(rawjson.Text(d.get("status")))); s {
	case "pending", "in_progress", "completed", "cancelled":
		return s
	case "canceled", "deleted":
		return "cancelled"
	case "done":
		return "completed"
	}
	return ""
}

// modelTodos returns a list of things to do as models write it. What other clients have
// beside it stays, and so does a list of anything else.
func modelTodos(list []byte) []byte {
	return modelList(list, func(n int, d doc, o *modelItem) {
		o.id(d, strconv.Itoa(n))
		o.text(d, "content", todoNames...)
		if status := todoStatus(d); status != "" {
			o.put("status", session.AppendString(nil, status), "status")
		} else if d.get("status") == nil {
			o.put("status", []byte(`"pending"`), "status")
		}
	})
}

// listed returns the list that a call that changes it left.
func (s *speller) listed(raw []byte) []byte {
	if raw == nil {
		raw = get([]doc{s.input, s.args}, "todos", "plan")
	}
	return todos(raw)
}

// total returns how many things the list has.
func (s *speller) total(raw []byte) []byte {
	if raw != nil {
		return raw
	}
	n := 0
	for range rawjson.Elements(get(append(s.values[:len(s.values):len(s.values)], s.input, s.args), "todos", "newTodos", "plan")) {
		n++
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

// subagents are the types of subagents that Cursor has words of its own for.
var subagents = [...]string{"computerUse", "explore", "mediaReview", "bash", "browserUse", "shell", "vmSetupHelper", "debug", "cursorGuide", "watchVideo"}

// subagent returns a type of subagent as Cursor's messages have it.
func subagent(raw []byte) []byte {
	word := subagentWord(raw)
	switch {
	case word == "":
		return nil
	case word == "unspecified":
		return []byte(`{"unspecified":{}}`)
	}
	for _, name := range subagents {
		if strings.EqualFold(word, name) || strings.EqualFold(word, toolmap.Snake(name)) {
			return []byte(`{"` + name + `":{}}`)
		}
	}
	o := object.New([]byte(`{"custom":`))
	o.Text("name", word)
	return append(o.Done(), '}')
}

// subagentWord returns a type of subagent as a word.
func subagentWord(raw []byte) string {
	if rawjson.IsText(raw) {
		return rawjson.Text(raw)
	}
	return Named(raw)
}

// Named returns the name that an object consists of: {"explore":{}}, {"custom":{"name":"x"}}
// and {"kind":"custom","name":"x"}. It returns "" for any other.
func Named(raw []byte) string {
	d := parse(raw)
	switch {
	case len(d) == 2 && rawjson.IsText(d.get("kind")):
		return rawjson.Text(d.get("name"))
	case len(d) == 1 && string(d[0].name) == "kind":
		return rawjson.Text(d[0].value)
	case len(d) == 1 && string(d[0].value) == "{}":
		return string(d[0].name)
	case len(d) == 1:
		if in := parse(d[0].value); len(in) == 1 {
			return rawjson.Text(in.get("name"))
		}
	}
	return ""
}

// questions returns questions to the user as Cursor's messages have them.
func questions(list []byte) []byte {
	return array(list, question)
}

// modelQuestions returns questions to the user as models write them.
func modelQuestions(list []byte) []byte {
	return modelList(list, func(n int, d doc, o *modelItem) {
		o.id(d, "q"+strconv.Itoa(n))
		o.text(d, "prompt", "prompt", "question")
		if options := d.get("options"); len(options) > 0 && options[0] == '[' {
			o.put("options", modelList(options, func(_ int, d doc, o *modelItem) {
				o.id(d, rawjson.Text(d.get("label")))
			}), "options")
		}
		o.flag(d, "allow_multiple", "multiSelect", "allowMultiple", "allow_multiple")
	})
}

func question(n int, d doc, o *object.Writer) {
	id := bare(d.get("id"))
	if id == "" {
		id = "q" + strconv.Itoa(n)
	}
	o.Text("id", id)
	o.NonEmpty("prompt", rawjson.Text(d.get("prompt", "question")))
	options := array(d.get("options"), func(n int, d doc, o *object.Writer) {
		label := rawjson.Text(d.get("label"))
		id := bare(d.get("id"))
		if id == "" {
			id = label
		}
		o.Text("id", id)
		if more := rawjson.Text(d.get("description")); more != "" {
			label += ": " + more
		}
		o.NonEmpty("label", label)
	})
	if len(options) > 2 {
		o.Raw("options", options)
	}
	if string(d.get("multiSelect", "allowMultiple", "allow_multiple")) == "true" {
		o.Flag("allowMultiple", true)
	}
}

// answers returns what the user answered: {"question":"answer"}, or Cursor's own list.
func (s *speller) answers(raw []byte) []byte {
	if len(raw) > 0 && raw[0] == '[' {
		return raw
	}
	ids := map[string]string{}
	n := 0
	for e := range rawjson.Elements(get([]doc{s.input, s.args}, "questions")) {
		n++
		d := parse(e)
		if id := bare(d.get("id")); id != "" {
			ids[rawjson.Text(d.get("question", "prompt"))] = id
		} else {
			ids[rawjson.Text(d.get("question", "prompt"))] = "q" + strconv.Itoa(n)
		}
	}
	out := []byte{'['}
	for asked, answer := range rawjson.Members(raw) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		id := ids[string(asked)]
		if id == "" {
			id = string(asked)
		}
		o := object.New(out)
		o.Text("questionId", id)
		o.NonEmpty("freeformText", bare(answer))
		out = o.Done()
	}
	if len(out) == 1 && s.shown() != "" {
		o := object.New(out)
		o.Text("freeformText", s.shown())
		out = o.Done()
	}
	return append(out, ']')
}

// references returns what a search of the web found.
func (s *speller) references(raw []byte) []byte {
	if len(raw) > 0 && raw[0] == '[' {
		return raw
	}
	out := []byte{'['}
	add := func(title, url, chunk string) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		o := object.New(out)
		o.NonEmpty("title", title)
		o.NonEmpty("url", url)
		o.NonEmpty("chunk", chunk)
		out = o.Done()
	}
	for e := range rawjson.Elements(get(s.values, "results")) {
		if rawjson.IsText(e) {
			add("", "", rawjson.Text(e))
		}
		for one := range rawjson.Elements(rawjson.Last(e, "content")) {
			d := parse(one)
			add(rawjson.Text(d.get("title")), rawjson.Text(d.get("url")), rawjson.Text(d.get("chunk")))
		}
	}
	if text := s.shown(); len(out) == 1 && text != "" {
		add("", "", text)
	}
	return append(out, ']')
}
