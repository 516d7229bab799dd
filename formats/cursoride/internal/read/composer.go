package read

import (
	"cmp"
	"fmt"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// fill takes what a session's own record says. What its heads say fills the
// gaps.
func (c *Chat) fill(f *members.Object) {
	e, s := c.Entry, &c.Out
	s.ID, s.Agent, s.Head.Turns, s.Bytes = e.ID, session.CursorIDE, -1, -1
	if id := f.Text(lists.ComID); id != "" && id != e.ID {
		f.Keep(lists.ComID)
	}
	s.Title = cmp.Or(f.Text(lists.ComName), f.Text(lists.ComTabTitle), f.Text(lists.ComPlainTitle), e.Title)
	s.Created, s.Updated = lists.StampOf(f, lists.ComCreated), lists.StampOf(f, lists.ComUpdated)
	if sent := lists.StampOf(f, lists.ComTabSent); sent.Known() {
		s.Updated = sent
	}
	if !s.Created.Known() {
		s.Created = e.Created
	}
	if !s.Updated.Known() {
		s.Updated = e.Updated
	}
	s.Mode = cmp.Or(modeOf(f.Raw(lists.ComMode)), f.Text(lists.ComForced), e.Mode)
	if raw := f.Full(lists.ComMode); raw != nil && modeOf(raw) == "" {
		f.Keep(lists.ComMode)
	}
	if raw := f.Full(lists.ComForced); raw != nil && rawjson.Text(raw) != s.Mode {
		f.Keep(lists.ComForced)
	}
	if _, ok := members.Whole(f.Raw(lists.ComVersion)); !ok {
		f.KeepFull(lists.ComVersion)
	}
	for _, i := range [...]int{lists.ComTabTitle, lists.ComPlainTitle} {
		if name := f.Raw(i); name != nil && rawjson.Text(name) != s.Title {
			f.Keep(i)
		}
	}
	if id := f.Full(lists.ComPlainID); id != nil && rawjson.Text(id) != e.ID {
		f.Keep(lists.ComPlainID)
	}
	s.Branch = cmp.Or(f.Text(lists.ComBranch), e.Branch)
	if name := rawjson.TextAt(f.Raw(lists.ComModel), "modelName"); name != "default" {
		s.Model = name // "default" is the client's own choice
	}
	f.KeepFull(lists.ComModel)
	used, ok := f.Whole(lists.ComUsed)
	limit, more := f.Whole(lists.ComLimit)
	if ok && more && limit > 0 {
		s.Context = &session.Context{Used: used, Max: limit}
	} else {
		f.KeepFull(lists.ComUsed, lists.ComLimit)
	}
	c.status(f)
	c.family(f)
	c.work(f)
	f.KeepFull(lists.ComText, lists.ComRichText) // what stands in the input box is no message
}

// status says how a session stands.
func (c *Chat) status(f *members.Object) {
	archived, draft := f.Flag(lists.ComArchived) || c.Entry.Archived, f.Flag(lists.ComDraft) || c.Entry.Draft
	status := f.Text(lists.ComStatus)
	c.ended = status
	switch {
	case draft:
		c.Out.Status = "draft"
	case archived:
		c.Out.Status = "archived"
	case status == "generating":
		c.Out.Status = "running"
	case status == "error":
		c.Out.Status = "error"
	case status != "":
		c.Out.Status = "idle"
	}
	switch status {
	case "", "none", "completed", "generating", "error":
	default:
		f.Keep(lists.ComStatus)
	}
	if c.Entry.BestOf = c.Entry.BestOf || f.Flag(lists.ComBestOf); c.Entry.BestOf {
		c.Out.Extras = append(c.Out.Extras, session.Extra{Name: "isBestOfNSubcomposer", Raw: session.Raw("true")})
	}
}

// unnamed is the id of a bubble that has none.
func unnamed(n int) string { return fmt.Sprintf("bubble-%d", n+1) }
