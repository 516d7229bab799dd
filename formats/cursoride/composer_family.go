package cursoride

import (
	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// family names the sessions that this one started, and the one that started it.
func (c *chat) family(f *fields) {
	e := c.entry
	if info := f.raw(comSubagentInfo); info != nil {
		e.sub(info)
		for name := range rawjson.Members(info) {
			switch string(name) {
			case "parentComposerId", "toolCallId", "subagentTypeName", "subagentType", "typeName":
			default:
				f.keep(comSubagentInfo)
			}
		}
	}
	if e.parent.Session != "" {
		of := e.parent
		c.out.Parent = &of
	}
	listed := map[string]bool{c.out.ID: true} // some list themselves
	for _, i := range [...]int{comSubagents, comSubs} {
		for value := range rawjson.Elements(f.raw(i)) {
			id := rawjson.Text(value)
			if id == "" || listed[id] {
				continue
			}
			listed[id] = true
			c.out.Children = append(c.out.Children, c.link(id, i == comSubs))
		}
	}
	for _, i := range [...]int{comSubagents, comSubs} {
		if list := f.full(i); list != nil && list[0] != '[' {
			f.keep(i)
		}
	}
	for _, id := range c.x.childrenOf(e.id) {
		if !listed[id] {
			listed[id] = true
			c.out.Children = append(c.out.Children, c.link(id, false))
		}
	}
}

// link is a child by what the indexes know of it.
func (c *chat) link(id string, best bool) session.Link {
	l := session.Link{Session: id}
	if e := c.x.byID[id]; e != nil {
		l.Title, l.Call, l.Kind = e.title, e.parent.Call, e.parent.Kind
		best = best && !e.subagent
	}
	if best && l.Kind == "" {
		l.Kind = "best-of-n"
	}
	return l
}
