package gemini

import (
	"strings"

	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/members"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// said makes the parts of a message; of results of calls, the parts that follow one are part
// of it, but for text.
func said(r *lineclient.Record) (out []session.Part) {
	if r.Flag(known) {
		return unknown(r)
	}
	var of *session.ToolResult
	for b := range parts(r.Raw("content")) {
		p := part(b, r)
		if result, is := p.(*session.ToolResult); is {
			of = result
		} else if _, text := p.(*session.Text); of != nil && !text {
			of.Content = append(of.Content, p)
			continue
		}
		out = append(out, p)
	}
	return out
}

// unknown makes what a line that repeats results has besides.
func unknown(r *lineclient.Record) (out []session.Part) {
	for b := range parts(r.Raw("content")) {
		f := members.Split(b, "")
		data, answer := members.Split(f.Members("inlineData"), ""), members.Split(f.Members("functionResponse"), "")
		response := members.Split(answer.Members("response"), "")
		data.Drop("data", "mimeType")
		answer.Drop("id", "name")
		response.Drop("output", "error")
		for _, x := range append(append(f.Rest(), data.Rest()...), append(answer.Rest(), response.Rest()...)...) {
			out = append(out, &session.Opaque{Kind: x.Name, Raw: x.Raw})
		}
	}
	return out
}

// part makes a part of a message.
func part(b []byte, r *lineclient.Record) session.Part {
	if rawjson.IsText(b) {
		return &session.Text{Text: rawjson.Text(b)}
	}
	f := members.Split(b, "")
	var p session.Part
	switch {
	case string(f.Peek("thought")) == "true":
		f.Drop("thought")
		p = &session.Thinking{Text: f.Text("text"), Signature: f.Text("thoughtSignature")}
	case rawjson.IsText(f.Peek("text")):
		p = &session.Text{Text: f.Text("text")}
	case f.Peek("inlineData") != nil:
		data := members.Split(f.Members("inlineData"), "")
		if p = lineclient.ImageBlock("data", "mimeType")(data, r); p != nil {
			lineclient.AddExtras(p, data.Rest())
		}
	case f.Peek("functionCall") != nil:
		call := members.Split(f.Members("functionCall"), "")
		p = called(call, "args", r)
		lineclient.AddExtras(p, call.Rest())
	case f.Peek("functionResponse") != nil:
		p = result(f.Members("functionResponse"), r)
	}
	if p == nil {
		return &session.Opaque{Kind: "part", Raw: lineclient.Copy(b)}
	}
	lineclient.AddExtras(p, f.Rest())
	return p
}

func called(f *lineclient.Fields, args string, r *lineclient.Record) *session.ToolCall {
	c := &session.ToolCall{ID: f.Text("id"), Name: f.Text("name"), Input: lineclient.Copy(f.Raw(args)), Start: r.Time}
	c.Kind = toolmap.Kind(c.Name)
	return c
}

// result makes the result of a call.
func result(b []byte, r *lineclient.Record) *session.ToolResult {
	f := members.Split(b, "")
	t := &session.ToolResult{Call: f.Text("id"), Status: "success"}
	f.Drop("name") // the call has it
	response := members.Split(f.Members("response"), "")
	for _, name := range []string{"output", "error"} {
		if text := response.Peek(name); rawjson.IsText(text) {
			t.Content = append(t.Content, &session.Text{Text: response.Text(name)})
			if name == "error" {
				t.Error, t.Status = true, "failed"
			}
		}
	}
	for _, x := range response.Rest() {
		t.Content = append(t.Content, &session.Opaque{Kind: x.Name, Raw: x.Raw})
	}
	for p := range parts(f.List("parts")) {
		t.Content = append(t.Content, part(p, r))
	}
	t.Extras = f.Rest()
	return t
}

// answer makes what the model thought, said and called, and the results that stand with the
// calls. Where the content has calls or thoughts of its own, those are what is sent.
func answer(r *lineclient.Record) []session.Part {
	var before, out, results []session.Part
	calls := map[string]*session.ToolCall{}
	thinks := false
	for _, p := range said(r) {
		switch p := p.(type) {
		case *session.Text:
			if p.Text == "" && len(p.Extras) == 0 {
				continue
			}
		case *session.Thinking:
			thinks = true
		case *session.ToolCall:
			calls[p.ID] = p
		}
		out = append(out, p)
	}
	if !thinks {
		for b := range rawjson.Elements(r.Peek("thoughts")) { // which an extra has as they were
			before = append(before, thought(b))
		}
	}
	own := values{}
	for b := range rawjson.Elements(r.Peek("toolCalls")) {
		for p := range parts(rawjson.Last(b, "result")) {
			if rawjson.TextAt(p, "functionResponse", "id") == rawjson.TextAt(b, "id") {
				own.add(p)
				break
			}
		}
	}
	for b := range rawjson.Elements(r.List("toolCalls")) {
		f := members.Split(b, "")
		c := called(f, "args", r)
		if own := calls[c.ID]; own != nil {
			c = own
		} else {
			out = append(out, c)
		}
		c.Child = f.Text("agentId")
		c.End = f.Time("timestamp")
		t, others := resulted(f, c.ID, r)
		display := f.Raw("resultDisplay")
		switch status := f.Text("status"); {
		case t == nil && len(display) > 0:
			c.Extras = append(c.Extras, session.Extra{Name: "resultDisplay", Raw: lineclient.Copy(display)})
		case t == nil && status != "":
			c.Extras = append(c.Extras, session.Extra{Name: "status", Raw: session.AppendString(nil, status)})
		case t != nil:
			if string(display) != `""` {
				t.Value = lineclient.Copy(display)
			}
			if status != "" && status != "success" {
				t.Error, t.Status = true, status
			}
			results = append(results, t)
		}
		c.Extras = append(c.Extras, f.Rest()...)
		for _, raw := range others {
			if !own.have(raw) {
				c.Extras = append(c.Extras, session.Extra{Name: "result", Raw: raw})
			}
		}
	}
	return append(append(before, out...), results...)
}

// resulted makes the result that stands with a call, and returns those of others that do, too.
func resulted(f *lineclient.Fields, id string, r *lineclient.Record) (out *session.ToolResult, others []session.Raw) {
	own := true
	for b := range parts(f.Raw("result")) {
		if answer := rawjson.Last(b, "functionResponse"); answer != nil {
			if own = rawjson.TextAt(answer, "id") == id; own && out == nil {
				out, _ = part(b, r).(*session.ToolResult)
				continue
			}
			others = append(others, lineclient.Copy(b))
			continue
		}
		if !own {
			others = append(others, lineclient.Copy(b))
			continue
		}
		if out == nil {
			out = &session.ToolResult{Call: id, Status: "success"}
		}
		out.Content = append(out.Content, part(b, r))
	}
	return out, others
}

// thought makes one of what the model thought before it answered, in the words of the client.
func thought(b []byte) session.Part {
	f := members.Split(b, "")
	return &session.Thinking{Text: strings.TrimSpace("**" + f.Text("subject") + "** " + f.Text("description")), Start: f.Time("timestamp")}
}

// given makes what the client tells the model of the project.
func given(r *lineclient.Record) (out []session.Part) {
	for _, p := range said(r) {
		if t, is := p.(*session.Text); is {
			p = &session.Injected{Tag: "session_context", Text: t.Text, Extras: t.Extras}
		}
		out = append(out, p)
	}
	return out
}

func compacted(r *lineclient.Record) (out []session.Part) {
	for _, p := range said(r) {
		if t, is := p.(*session.Text); is {
			p = &session.Summary{Text: t.Text, Extras: t.Extras}
		}
		out = append(out, p)
	}
	return out
}

func spent(r *lineclient.Record, t *session.Turn) {
	if model := rawjson.Text(r.Peek("model")); model != "" {
		t.Model = model
	}
	lineclient.Spend(t, r.Peek("tokens"), "input", "output", "cached", "", "thoughts", "total")
}
