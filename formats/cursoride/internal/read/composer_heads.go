package read

import (
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// headExtras are the members of heads that nobody claimed and that the
// session's own record does not say as well.
func (c *Chat) headExtras(f *members.Object, heads ...[]byte) {
	said := map[string]bool{}
	for _, e := range f.Extras {
		said[e.Name+"\x00"+string(e.Raw)] = true
	}
	var h members.Object
	for _, raw := range heads {
		if !h.SplitBy(raw, "head.", lists.HeadNames()) {
			continue
		}
		c.unlike(&h)
		var list []session.Extra
		for _, e := range h.Extras {
			bare := e.Name[len("head."):]
			for _, key := range [...]string{bare, e.Name} {
				if said[key+"\x00"+string(e.Raw)] {
					e.Raw = nil
				}
			}
			if e.Raw != nil {
				said[e.Name+"\x00"+string(e.Raw)] = true
				list = append(list, e)
			}
		}
		h.Extras = list
		c.Out.Extras = append(c.Out.Extras, h.Settle(&c.tally)...)
	}
}

// bare is a value without secrets, as an Extra.
func bare(name string, raw []byte) (session.Extra, bool) {
	r := members.Bare(name, raw)
	return session.Extra{Name: name, Raw: r}, r != nil
}

// unlike keeps what a head says otherwise than the session does.
func (c *Chat) unlike(h *members.Object) {
	s := &c.Out
	for _, i := range [...]int{lists.HeadName, lists.HeadTabTitle, lists.HeadPlainTitle} {
		if raw := h.Full(i); raw != nil && rawjson.Text(raw) != s.Title {
			h.Keep(i)
		}
	}
	for _, t := range [...]struct {
		i  int
		at session.Stamp
	}{{lists.HeadCreated, s.Created}, {lists.HeadUpdated, s.Updated}, {lists.HeadTabSent, s.Updated}} {
		if stated, exact := lists.Moment(h.Raw(t.i)); !exact || stated.Known() && stated != t.at {
			h.Keep(t.i)
		}
	}
	if raw := h.Full(lists.HeadMode); raw != nil && modeOf(raw) != s.Mode {
		h.Keep(lists.HeadMode)
	}
	if raw := h.Full(lists.HeadForced); raw != nil && rawjson.Text(raw) != s.Mode {
		h.Keep(lists.HeadForced)
	}
	if raw := h.Full(lists.HeadBranch); raw != nil && rawjson.Text(raw) != s.Branch {
		h.Keep(lists.HeadBranch)
	}
	if raw := h.Full(lists.HeadPlainID); raw != nil && rawjson.Text(raw) != c.ID {
		h.Keep(lists.HeadPlainID)
	}
	h.KeepFull(lists.HeadSubagent, lists.HeadRemote, lists.HeadMessages)
	if raw := h.Full(lists.HeadSpace); raw != nil && c.Workspace == "" {
		h.Keep(lists.HeadSpace)
	}
}
