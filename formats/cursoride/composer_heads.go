package cursoride

import (
	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// headExtras are the members of heads that nobody claimed and that the
// session's own record does not say as well.
func (c *chat) headExtras(f *fields, heads ...[]byte) {
	said := map[string]bool{}
	for _, e := range f.extras {
		said[e.Name+"\x00"+string(e.Raw)] = true
	}
	var h fields
	for _, raw := range heads {
		if !h.split(raw, "head.", headNames()) {
			continue
		}
		c.unlike(&h)
		var list []session.Extra
		for _, e := range h.extras {
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
		h.extras = list
		c.out.Extras = append(c.out.Extras, h.settle(&c.tally)...)
	}
}

// bare is a value without secrets, as an Extra.
func bare(name string, raw []byte) (session.Extra, bool) {
	r := members.Bare(name, raw)
	return session.Extra{Name: name, Raw: r}, r != nil
}

// unlike keeps what a head says otherwise than the session does.
func (c *chat) unlike(h *fields) {
	s := &c.out
	for _, i := range [...]int{headName, headTabTitle, headPlainTitle} {
		if raw := h.full(i); raw != nil && rawjson.Text(raw) != s.Title {
			h.keep(i)
		}
	}
	for _, t := range [...]struct {
		i  int
		at session.Stamp
	}{{headCreated, s.Created}, {headUpdated, s.Updated}, {headTabSent, s.Updated}} {
		if stated, exact := moment(h.raw(t.i)); !exact || stated.Known() && stated != t.at {
			h.keep(t.i)
		}
	}
	if raw := h.full(headMode); raw != nil && modeOf(raw) != s.Mode {
		h.keep(headMode)
	}
	if raw := h.full(headForced); raw != nil && rawjson.Text(raw) != s.Mode {
		h.keep(headForced)
	}
	if raw := h.full(headBranch); raw != nil && rawjson.Text(raw) != s.Branch {
		h.keep(headBranch)
	}
	if raw := h.full(headPlainID); raw != nil && rawjson.Text(raw) != c.id {
		h.keep(headPlainID)
	}
	h.keepFull(headSubagent, headRemote, headMessages)
	if raw := h.full(headSpace); raw != nil && c.space == "" {
		h.keep(headSpace)
	}
}
