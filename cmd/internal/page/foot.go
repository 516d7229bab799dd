package page

import (
	"cmp"
	"slices"
	"strings"

	"rehome/cmd/internal/page/markup"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/formats/session"
)

// entry is a line of the outline.
type entry struct {
	id, number markup.HTML
	text       screen.Safe
}

// change is what was done to a file, and where at first.
type change struct {
	path           string
	turn           markup.HTML
	added, removed int64
}

// change notes what a step did to a file.
func (p *output) change(path string, diff []string) {
	path = head(path, maxLine)
	at := slices.IndexFunc(p.changed, func(c change) bool { return c.path == path })
	if at < 0 {
		if path == "" || len(p.changed) == maxFiles {
			return
		}
		at = len(p.changed)
		p.changed = append(p.changed, change{path: strings.Clone(path), turn: p.turn})
	}
	added, removed := prose.DiffStat(diff)
	p.changed[at].added += int64(added)
	p.changed[at].removed += int64(removed)
}

const (
	maxFiles   = 200
	maxEntry   = 90 // cells of a line of the outline
	maxOutline = 5000
	maxGroup   = 200 // entries that are not folded together
	maxModels  = 8
)

// sums are what is counted, without what subagents did.
type sums struct {
	turns  int64
	calls  int64
	kids   int64 // subagents that are on the page
	absent int64 // and that are not
	models []string
	usage  session.Usage
}

func (n *sums) turn(t *session.Turn, model string) {
	n.turns++
	if t.Model != "" {
		model = t.Model
	}
	if model != "" && len(n.models) < maxModels && !slices.Contains(n.models, model) {
		n.models = append(n.models, model)
	}
	if u := t.Usage; u != nil {
		n.usage.Input += max(0, u.Input)
		n.usage.Output += max(0, u.Output)
		n.usage.CacheRead += max(0, u.CacheRead)
	}
}

// foot ends the page with the outline, and with what is known of the session besides.
func (p *writer) foot(s *session.Session) {
	p.endTurn()
	var outline markup.Builder
	for group := range slices.Chunk(p.outline, maxGroup) {
		var entries markup.Builder
		for _, e := range group {
			entries.Add(p.Fill("entry", "id", e.id, "number", e.number, "text", markup.Safe(cmp.Or(e.text, "(no prompt)"))))
		}
		items := p.Fill("entries", "items", entries.HTML())
		if len(p.outline) > maxGroup {
			items = p.Fill("group", "from", group[0].number, "to", group[len(group)-1].number, "entries", items)
		}
		outline.Add(items)
	}
	edited := markup.HTML("")
	for _, c := range p.changed {
		edited += p.Fill("file", "id", c.turn, "path", markup.Safe(screen.Cut(screen.Visible(c.path), maxSubject)), "counts", markup.Safe("+"+screen.Grouped(c.added)+" -"+screen.Grouped(c.removed)))
	}
	if n := screen.Plural(int64(len(p.changed)), "file") + " edited"; edited != "" {
		if len(p.changed) == maxFiles {
			n += ", or more"
		}
		edited = p.Fill("files", "count", markup.Safe(n), "items", edited)
	}
	facts := p.facts(s, false)
	add := func(name markup.HTML, value screen.Safe) {
		if value != "" {
			facts += p.Fill("fact", "name", name, "value", markup.Safe(value))
		}
	}
	if len(p.sums.models) > 1 {
		add("models", screen.Visible(strings.Join(p.sums.models, ", ")))
	}
	add("turns", screen.Grouped(p.sums.turns))
	add("tool calls", screen.Grouped(p.sums.calls))
	if p.sums.kids > 0 {
		add("subagents", screen.Grouped(p.sums.kids)+", not counted here")
	}
	if p.sums.absent > 0 {
		add("subagents left out", screen.Grouped(p.sums.absent))
	}
	add("tokens", screen.ReplaceAll(prose.FormatUsage(&p.sums.usage), "tokens ", ""))
	losses := markup.HTML("")
	for _, l := range p.o.Losses() {
		losses += p.Fill("item", "text", markup.Safe(l))
	}
	if losses != "" {
		losses = p.Fill("losses", "items", losses)
	}
	more := markup.HTML("")
	if n := p.sums.turns - int64(len(p.outline)); n > 0 {
		more = p.Fill("more", "text", markup.Safe("… and "+screen.Plural(n, "more turn")))
	}
	p.fill("foot", "files", edited, "outline", outline.HTML(), "more", more, "facts", facts, "losses", losses)
}
