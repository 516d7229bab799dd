package audit

import (
	"strconv"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/linecheck"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// boundary checks a compaction. A summary has to follow.
func (g *fileAudit) boundary(i int32) {
	g.unsummed()
	g.summary = i
	for id := range outline.Preserved(g.entry[shape.Compaction]) {
		if len(g.kept) < outline.MaxCalls {
			g.kept = append(g.kept, outline.Mention{Call: id, Line: i})
		}
	}
}

func (g *fileAudit) unsummed() {
	if g.summary >= 0 {
		g.say("RH468", int(g.links[g.summary].line), "", "")
	}
	g.summary = -1
}

// message checks the message of k, which will be link i.
func (g *fileAudit) message(l *linecheck.Line, k *link, i int32) (known bool) {
	var content, id, model, usage []byte
	for name, v := range rawjson.Members(g.entry[shape.Message]) {
		switch string(name) {
		case "content":
			content = v
		case "id":
			id = v
		case "model":
			model = v
		case "usage":
			usage = v
		}
	}
	if content == nil || string(content) == "null" {
		g.remark(i, "RH442", "/message", "")
		return g.q.Enabled(rule.Meaning)
	}
	b := blocks{fileAudit: g, link: i, answer: k.kind == shape.Assistant}
	if b.answer {
		if k.Response = outline.Hash(id); k.Response == 0 {
			g.remark(i, "RH366", "/message/id", "")
		}
		g.answered(l, model, usage, k)
	}
	b.content(content)
	k.filler = b.answer && g.model == "<synthetic>" && string(b.words) == `"No response requested."`
	meta := g.entry.Flag(shape.Meta)
	summary := g.entry.Flag(shape.Summary)
	if k.kind == shape.User {
		k.prompt = !k.Result && !meta && !summary
		if summary {
			g.summary = -1
		}
		if k.Result {
			g.offered(l, content)
		}
		if k.prompt && !k.side {
			g.heads.prompt(l, &b)
		}
	}
	return false
}

// answered reads the model and the usage of an answer.
func (g *fileAudit) answered(l *linecheck.Line, model, usage []byte, k *link) {
	if k.side && !g.thread {
		return
	}
	if model != nil {
		g.model, g.models = rawjson.Text(model), l.Number
	} else {
		g.models = 0
	}
	g.usage, g.used = 0, l.Number
	for n, v := range rawjson.Members(usage) {
		switch string(n) {
		case "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens":
			if n, err := strconv.ParseInt(string(v), 10, 48); err == nil && n > 0 {
				g.usage += n
			}
		}
	}
}
