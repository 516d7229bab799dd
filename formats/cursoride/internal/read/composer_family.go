package read

import (
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// family names the sessions that this one started, and the one that started it.
func (c *Chat) family(f *members.Object) {
	e := c.Entry
	if info := f.Raw(lists.ComSubagentInfo); info != nil {
		e.TakeParent(info)
		for name := range rawjson.Members(info) {
			switch string(name) {
			case "parentComposerId", "toolCallId", "subagentTypeName", "subagentType", "typeName":
			default:
				f.Keep(lists.ComSubagentInfo)
			}
		}
	}
	if e.Parent.Session != "" {
		of := e.Parent
		c.Out.Parent = &of
	}
	listed := map[string]bool{c.Out.ID: true} // some list themselves
	for _, i := range [...]int{lists.ComSubagents, lists.ComSubs} {
		for value := range rawjson.Elements(f.Raw(i)) {
			id := rawjson.Text(value)
			if id == "" || listed[id] {
				continue
			}
			listed[id] = true
			c.Out.Children = append(c.Out.Children, c.link(id, i == lists.ComSubs))
		}
	}
	for _, i := range [...]int{lists.ComSubagents, lists.ComSubs} {
		if list := f.Full(i); list != nil && list[0] != '[' {
			f.Keep(i)
		}
	}
	for _, id := range c.x.ChildrenOf(e.ID) {
		if !listed[id] {
			listed[id] = true
			c.Out.Children = append(c.Out.Children, c.link(id, false))
		}
	}
}

// link is a child by what the indexes know of it.
func (c *Chat) link(id string, best bool) session.Link {
	l := session.Link{Session: id}
	if e := c.x.ByID[id]; e != nil {
		l.Title, l.Call, l.Kind = e.Title, e.Parent.Call, e.Parent.Kind
		best = best && !e.Subagent
	}
	if best && l.Kind == "" {
		l.Kind = "best-of-n"
	}
	return l
}
