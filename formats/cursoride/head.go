package cursoride

import (
	"cmp"
	"strings"
	"sync"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// The members of a head that are understood. Heads of all generations are the
// same object, and an old inline composer is one with its conversation in it.
const (
	headID = iota
	headType
	headName
	headCreated
	headUpdated
	headMode
	headForced
	headArchived
	headDraft
	headSpace
	headSubagent
	headBestOf
	headTalk
	headBranch
	headTabID
	headTabTitle
	headTabSent
	headTabBubbles
	headRemote
	headPlainID // some tabs have these in the place of tabId, chatTitle and bubbles
	headPlainTitle
	headMessages
)

var headNames = sync.OnceValue(func() *table {
	t := newTable([]string{
		headID: "composerId", headType: "type", headName: "name", headCreated: "createdAt", headUpdated: "lastUpdatedAt",
		headMode: "unifiedMode", headForced: "forceMode", headArchived: "isArchived", headDraft: "isDraft",
		headSpace: "workspaceIdentifier", headSubagent: "subagentInfo", headBestOf: "isBestOfNSubcomposer",
		headTalk: "conversation", headBranch: "createdOnBranch", headTabID: "tabId", headTabTitle: "chatTitle",
		headTabSent: "lastSendTime", headTabBubbles: "bubbles", headRemote: "isRemote",
		headPlainID: "id", headPlainTitle: "title", headMessages: "messages",
	}, "subtitle", "hasUnreadMessages", "filesChangedCount", "totalLinesAdded", "totalLinesRemoved",
		"hasBlockingPendingActions", "isWorktree", "isSpec", "isProject", "numSubComposers", "referencedPlans",
		"committedToBranch", "isBestOfNParent")
	t.own = true
	return t
})

// entry is a session as the indexes know it, all generations taken together.
type entry struct {
	id      string
	title   string
	created session.Stamp
	updated session.Stamp
	mode    string
	branch  string

	space  string // the workspace's id
	sure   bool   // which is what the table of heads says: nothing else counts then
	folder folder
	parent session.Link

	archived, draft, subagent, bestOf, remote, hollow bool

	heads   []headAt // where its heads stand, the best first
	table   bool     // it has one in the table composerHeaders
	body    bodyAt
	where   *space      // whose database the body lies in; nil for the global one
	prompts []*typed    // that no bubble of it says, and the client's prompt history does
	asked   *typedLists // of a prompt history: what it is the rest of
}

// bodyAt says where a session's messages are.
type bodyAt uint8

const (
	nowhere  bodyAt = iota
	inDisk          // composerData: and what belongs to it
	inTab           // a chat tab of the first generation, with all its bubbles
	inHead          // a head with its conversation
	deletedC        // composerData: is a tombstone
	inTyped         // a list of prompts
)

// headAt is a head inside of a record that lists many.
type headAt struct {
	page     *page
	from, to int
}

// take adds what a head says and better ones did not.
func (e *entry) take(f *fields, at headAt) {
	first := len(e.heads) == 0 && !e.table
	if at.page != nil {
		e.heads = append(e.heads, at)
	}
	if e.title == "" {
		e.title = cmp.Or(f.text(headName), f.text(headTabTitle), f.text(headPlainTitle))
	}
	stampInto(&e.created, f, headCreated)
	stampInto(&e.updated, f, headUpdated)
	stampInto(&e.updated, f, headTabSent)
	e.mode = cmp.Or(e.mode, plainText(f.raw(headMode)), plainText(f.raw(headForced)))
	e.branch = cmp.Or(e.branch, plainText(f.raw(headBranch)))
	if first {
		e.archived, e.draft = f.flag(headArchived), f.flag(headDraft)
	}
	e.bestOf = e.bestOf || f.flag(headBestOf)
	if value := f.raw(headSpace); value != nil && e.space == "" {
		e.space, e.folder = identified(value)
	}
	e.sub(f.raw(headSubagent))
}

// sub takes what a subagent's record says of where it came from.
func (e *entry) sub(info []byte) {
	if of := rawjson.Text(rawjson.Last(info, "parentComposerId")); of != "" && e.parent.Session == "" {
		e.parent.Session = of
	}
	e.parent.Call = cmp.Or(e.parent.Call, rawjson.Text(rawjson.Last(info, "toolCallId")))
	for _, name := range [...]string{"subagentTypeName", "subagentType", "typeName"} {
		e.parent.Kind = cmp.Or(e.parent.Kind, rawjson.Text(rawjson.Last(info, name)))
	}
}

func stampInto(to *session.Stamp, f *fields, i int) {
	if !to.Known() {
		*to, _ = moment(f.raw(i))
	}
}

func plainText(raw []byte) string { return rawjson.Text(raw) }

// The ids that say what a session is.
const (
	draftID     = "empty-state-draft"
	taskPrefix  = "task-"
	cloudPrefix = "bc-"
)

// settle draws what an id and the workspaces say.
func (e *entry) settle(p *place) {
	if e.id == draftID {
		e.draft = true
	}
	if call, ok := strings.CutPrefix(e.id, taskPrefix); ok {
		e.subagent = true
		e.parent.Call = cmp.Or(e.parent.Call, call)
	}
	if s := p.space(e.space); s != nil && e.folder == (folder{}) {
		e.folder = s.folder
	}
}
