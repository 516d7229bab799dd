package lists

import (
	"cmp"
	"strings"
	"sync"

	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// The members of a head that are understood. Heads of all generations are the
// same object, and an old inline composer is one with its conversation in it.
const (
	HeadID = iota
	headType
	HeadName
	HeadCreated
	HeadUpdated
	HeadMode
	HeadForced
	headArchived
	HeadDraft
	HeadSpace
	HeadSubagent
	headBestOf
	HeadTalk
	HeadBranch
	HeadTabID
	HeadTabTitle
	HeadTabSent
	HeadTabBubbles
	HeadRemote
	HeadPlainID // some tabs have these in the place of tabId, chatTitle and bubbles
	HeadPlainTitle
	HeadMessages
)

var HeadNames = sync.OnceValue(func() *members.Table {
	t := members.NewTable([]string{
		HeadID: "composerId", headType: "type", HeadName: "name", HeadCreated: "createdAt", HeadUpdated: "lastUpdatedAt",
		HeadMode: "unifiedMode", HeadForced: "forceMode", headArchived: "isArchived", HeadDraft: "isDraft",
		HeadSpace: "workspaceIdentifier", HeadSubagent: "subagentInfo", headBestOf: "isBestOfNSubcomposer",
		HeadTalk: "conversation", HeadBranch: "createdOnBranch", HeadTabID: "tabId", HeadTabTitle: "chatTitle",
		HeadTabSent: "lastSendTime", HeadTabBubbles: "bubbles", HeadRemote: "isRemote",
		HeadPlainID: "id", HeadPlainTitle: "title", HeadMessages: "messages",
	}, "subtitle", "hasUnreadMessages", "filesChangedCount", "totalLinesAdded", "totalLinesRemoved",
		"hasBlockingPendingActions", "isWorktree", "isSpec", "isProject", "numSubComposers", "referencedPlans",
		"committedToBranch", "isBestOfNParent")
	t.Own = true
	return t
})

// Entry is a session as the lists know it, all generations taken together.
type Entry struct {
	ID      string
	Title   string
	Created session.Stamp
	Updated session.Stamp
	Mode    string
	Branch  string

	Workspace string // the workspace's id
	sure      bool   // which is what the table of heads says: nothing else counts then
	Folder    Folder
	Parent    session.Link

	Archived, Draft, Subagent, BestOf, Remote, hollow bool

	Heads    []headAt // where its heads stand, the best first
	Table    bool     // it has one in the table composerHeaders
	Unlisted bool     // it has bubbles, and is in no list
	Body     bodyAt
	Where    *Workspace   // whose database the body lies in; nil for the global one
	Prompts  []*Typed     // that no bubble of it says, and the client's prompt history does
	Asked    *PromptLists // of a prompt history: what it is the rest of
}

// bodyAt says where a session's messages are.
type bodyAt uint8

const (
	nowhere   bodyAt = iota
	InDisk           // composerData: and what belongs to it
	InTab            // a chat tab of the first generation, with all its bubbles
	InHead           // a head with its conversation
	Tombstone        // composerData: is a tombstone
	InPrompts        // a list of prompts
)

// headAt is a head inside of a record that lists many.
type headAt struct {
	Page     *page
	from, to int
}

// take adds what a head says and better ones did not.
func (e *Entry) take(f *members.Object, at headAt) {
	first := len(e.Heads) == 0 && !e.Table
	if at.Page != nil {
		e.Heads = append(e.Heads, at)
	}
	if e.Title == "" {
		e.Title = cmp.Or(f.Text(HeadName), f.Text(HeadTabTitle), f.Text(HeadPlainTitle))
	}
	stampInto(&e.Created, f, HeadCreated)
	stampInto(&e.Updated, f, HeadUpdated)
	stampInto(&e.Updated, f, HeadTabSent)
	e.Mode = cmp.Or(e.Mode, PlainText(f.Raw(HeadMode)), PlainText(f.Raw(HeadForced)))
	e.Branch = cmp.Or(e.Branch, PlainText(f.Raw(HeadBranch)))
	if first {
		e.Archived, e.Draft = f.Flag(headArchived), f.Flag(HeadDraft)
	}
	e.BestOf = e.BestOf || f.Flag(headBestOf)
	if value := f.Raw(HeadSpace); value != nil && e.Workspace == "" {
		e.Workspace, e.Folder = Identified(value)
	}
	e.TakeParent(f.Raw(HeadSubagent))
}

// TakeParent takes what a subagent's record says of where it came from.
func (e *Entry) TakeParent(info []byte) {
	if of := rawjson.TextAt(info, "parentComposerId"); of != "" && e.Parent.Session == "" {
		e.Parent.Session = of
	}
	e.Parent.Call = cmp.Or(e.Parent.Call, rawjson.TextAt(info, "toolCallId"))
	for _, name := range [...]string{"subagentTypeName", "subagentType", "typeName"} {
		e.Parent.Kind = cmp.Or(e.Parent.Kind, rawjson.TextAt(info, name))
	}
}

func stampInto(to *session.Stamp, f *members.Object, i int) {
	if !to.Known() {
		*to, _ = Moment(f.Raw(i))
	}
}

// The ids that say what a session is.
const (
	DraftID     = "empty-state-draft"
	TaskPrefix  = "task-"
	CloudPrefix = "bc-"
)

// settle draws what an id and the workspaces say.
func (e *Entry) settle(p *Store) {
	if e.ID == DraftID {
		e.Draft = true
	}
	if call, ok := strings.CutPrefix(e.ID, TaskPrefix); ok {
		e.Subagent = true
		e.Parent.Call = cmp.Or(e.Parent.Call, call)
	}
	if s := p.Workspace(e.Workspace); s != nil && e.Folder == (Folder{}) {
		e.Folder = s.folder
	}
}

// TakeFolder takes what a session's own record says of its folder: better than
// what all lists say but the table of heads.
func (e *Entry) TakeFolder(p *Store, identifier []byte) {
	id, at := Identified(identifier)
	if s := p.Workspace(id); s != nil && at == (Folder{}) {
		at = s.folder
	}
	if at != (Folder{}) && !e.sure {
		e.Workspace, e.Folder = cmp.Or(id, e.Workspace), at
	}
	e.Workspace = cmp.Or(e.Workspace, id)
	if e.Folder == (Folder{}) {
		e.Folder = at
	}
}

// Mark returns what a list says of a session besides its title.
func (e *Entry) Mark() string {
	switch {
	case e.Remote:
		return "remote"
	case e.Body == InPrompts:
		return session.PromptHistory
	case e.Draft:
		return "draft"
	case e.Archived:
		return "archived"
	case e.BestOf:
		return "best of n"
	}
	return ""
}

// Anywhere stands for the workspace of the global list of prompts.
const Anywhere = "\x00"

// Scope returns the workspaces in whose sessions a prompt of the list can occur:
// that of its database, and "", which sessions have that name none.
func (e *Entry) Scope() []string {
	if e.Where == nil {
		return []string{Anywhere}
	}
	return []string{e.Workspace, ""}
}
