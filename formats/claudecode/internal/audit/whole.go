package audit

import (
	"bytes"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/linecheck"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// maxUsed is the recorded usage at which the client compacted before it sent the
// first prompt, in a test. At 199,000 it did not.
const maxUsed = 990_000

// headline is what a list of sessions can display, by its place in the file.
type headline struct {
	titles  []spot
	prompts bool // the file has one
	near    bool // it has one within the first 64 KiB
}

// spot is the range of a line with a title.
type spot struct{ from, to int64 }

// entry reads a line that may contain a title.
func (h *headline) entry(g *fileAudit, l *linecheck.Line, kind string) {
	member := shape.Titles[kind]
	switch kind {
	case "last-prompt":
		member = "lastPrompt"
	case "continued-in":
		g.say("RH471", l.Number, "", "")
	}
	if member == "" || outline.Blank(rawjson.Text(l.Member(member))) {
		return
	}
	s := spot{l.Offset, l.Offset + int64(len(l.Bytes))}
	if len(h.titles) > 0 && h.titles[0].to <= outline.MaxHead {
		h.titles = h.titles[:1] // the first and the last one are enough
	}
	h.titles = append(h.titles[:min(len(h.titles), 1)], s)
}

// prompt reads a prompt.
func (h *headline) prompt(l *linecheck.Line, b *blocks) {
	words := rawjson.Text(b.words)
	if !b.image && (outline.Blank(words) || words[0] == '<' || strings.HasPrefix(words, "[Request interrupted by user")) {
		return
	}
	h.prompts = true
	h.near = h.near || l.Offset+int64(len(l.Bytes)) <= outline.MaxHead
}

// shown reports whether a list finds a title or prompt.
func (h *headline) shown(size int64) bool {
	for _, s := range h.titles {
		if s.to <= outline.MaxHead || s.from >= size-outline.MaxHead {
			return true
		}
	}
	return h.near
}

// whole applies the rules that need the whole file.
func (g *fileAudit) whole() {
	g.unsummed()
	if g.strays.n > 0 {
		g.say("RH367", g.strays.line, "/sessionId", "%v", g.strays.amount())
	}
	if g.agents.n > 0 {
		g.say("RH368", g.agents.line, "/agentId", "%v", g.agents.amount())
	}
	if g.models > 0 && g.model != "<synthetic>" && !resumable(g.model) {
		g.say("RH457", g.models, "/message/model", "%q", rule.Clip(g.model))
	}
	if g.usage >= maxUsed {
		g.say("RH458", g.used, "/message/usage", "%v", rule.Count(g.usage, "token"))
	}
	first := -1
	leaf := -1
	for i := range g.links {
		if k := &g.links[i]; k.speaks() && g.main(k) {
			if first < 0 {
				first = i
			}
			leaf = i
		}
	}
	if first >= 0 && g.links[first].kind == shape.Assistant && g.links[first].live && len(g.broken) == 0 && !g.thread {
		g.say("RH453", int(g.links[first].line), "", "")
	}
	g.thought(leaf)
}

// resumable reports whether the client would use a model again: one of the Claude
// API, or of a cloud with names of its own.
func resumable(model string) bool {
	return outline.KnownModel(model) || strings.HasPrefix(model, "claude-") && outline.KnownModel(strings.SplitN(model, "@", 2)[0]) ||
		strings.Contains(model, "anthropic") || strings.Contains(model, "/")
}

// thought reports reasoning that is not sent any more.
func (g *fileAudit) thought(leaf int) {
	last := key(g.model)
	others := counted{}
	for _, t := range g.thinks {
		k := &g.links[t.link]
		if k.live && t.model != last && g.model != "<synthetic>" {
			others.add(int(k.line))
		}
	}
	if others.n > 0 {
		g.say("RH455", others.line, "", "%v", others.amount())
	}
	if leaf >= 0 && len(g.thinks) > 0 && int(g.thinks[len(g.thinks)-1].link) == leaf {
		g.say("RH456", int(g.links[leaf].line), "", "")
	}
}

// listed checks whether the client lists the session, and in the right folder.
func (g *fileAudit) listed(f *family) {
	if f.old || len(g.links) == 0 {
		return
	}
	if g.sides == len(g.links) {
		g.say("RH463", int(g.links[0].line), "/isSidechain", "")
		return
	}
	if g.opening == "true" {
		g.say("RH462", int(g.links[0].line), "/isSidechain", "")
	}
	if strings.HasPrefix(g.started, "sdk") {
		g.say("RH461", 0, "", "%q", rule.Clip(strings.TrimPrefix(g.started, "sdk: ")))
	}
	if !g.heads.shown(g.size) {
		if g.heads.prompts {
			g.say("RH459", 0, "", "")
		} else {
			g.say("RH460", 0, "", "")
		}
	}
	if f.folder == "" || len(g.cwds) == 0 {
		return
	}
	for cwd := range g.cwds {
		if outline.FolderName(rawjson.Text([]byte(cwd))) == f.folder {
			return
		}
	}
	g.say("RH464", 0, "", "")
}

// offered reads the names of other files in a result.
func (g *fileAudit) offered(l *linecheck.Line, content []byte) {
	result := g.entry[shape.Result]
	if len(result) == 0 || result[0] != '{' {
		return
	}
	var agent, file, status string
	for n, v := range rawjson.Members(result) {
		switch string(n) {
		case "agentId":
			agent = rawjson.Text(v)
		case "status":
			status = rawjson.Text(v)
		case "persistedOutputPath":
			file = rawjson.Text(v)
		}
	}
	if agent != "" && len(g.references.agents) < outline.MaxCalls {
		g.references.called[key(agent)] = true
		if bytes.Contains(content, []byte("tool_result")) && (status == "completed" || status == "async_launched") {
			g.references.agents = append(g.references.agents, promise{agent, g.file, l.Number})
		}
	}
	if file != "" && len(g.references.files) < outline.MaxCalls {
		g.references.files = append(g.references.files, promise{file, g.file, l.Number})
	}
}
