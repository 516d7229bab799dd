package cursoride

import (
	"cmp"
	"fmt"
	"sync"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// The members of composerData that are understood.
const (
	comID = iota
	comVersion
	comName
	comCreated
	comUpdated
	comHeaders
	comTalk
	comMap
	comStatus
	comMode
	comForced
	comModel
	comUsed
	comLimit
	comArchived
	comDraft
	comSubs
	comSubagents
	comSubagentInfo
	comSpace
	comTree
	comRepos
	comBranch
	comState
	comSummary
	comTodos
	comOriginals
	comBlocks
	comCapabilities
	comBestOf
	comText
	comRichText
	comTabBubbles
	comTabID
	comTabTitle
	comTabSent
	comPlainID
	comPlainTitle
	comMessages
)

var composerTable = sync.OnceValue(func() *table {
	t := newTable([]string{
		comID: "composerId", comVersion: "_v", comName: "name", comCreated: "createdAt", comUpdated: "lastUpdatedAt",
		comHeaders: "fullConversationHeadersOnly", comTalk: "conversation", comMap: "conversationMap", comStatus: "status",
		comMode: "unifiedMode", comForced: "forceMode", comModel: "modelConfig", comUsed: "contextTokensUsed",
		comLimit: "contextTokenLimit", comArchived: "isArchived", comDraft: "isDraft", comSubs: "subComposerIds",
		comSubagents: "subagentComposerIds", comSubagentInfo: "subagentInfo", comSpace: "workspaceIdentifier",
		comTree: "gitWorktree", comRepos: "trackedGitRepos", comBranch: "createdOnBranch", comState: "conversationState",
		comSummary: "latestConversationSummary", comTodos: "todos", comOriginals: "originalFileStates",
		comBlocks: "codeBlockData", comCapabilities: "capabilities", comBestOf: "isBestOfNSubcomposer", comText: "text",
		comRichText: "richText", comTabBubbles: "bubbles", comTabID: "tabId", comTabTitle: "chatTitle", comTabSent: "lastSendTime",
		comPlainID: "id", comPlainTitle: "title", comMessages: "messages",
	}, "activeCustomMode", "addedFiles", "agentBackend", "allAttachedFileCodeChunksUris", "applied",
		"applyAgentBackendTypeRestrictions", "bestOfNJudgeWinner", "browserChipManuallyDisabled", "browserChipManuallyEnabled",
		"canvasPillCollapsed", "capabilityContexts", "context", "contextUsagePercent", "debugModeSuggestionUsed",
		"filesChangedCount", "generatingBubbleIds", "gitGraphFileSuggestions", "gitHubPromptDismissed",
		"hasBlockingPendingActions", "hasLoaded", "hasUnreadMessages", "isAgentic", "isApplyingWorktree", "isBestOfNParent",
		"isContinuationInProgress", "isCreatingWorktree", "isFileListExpanded", "isNAL", "isProject", "isQueueExpanded",
		"isReadingLongFile", "isSpec", "isSpecSubagentDone", "isTodoListExpanded", "isUndoingWorktree", "latestChatGenerationUUID",
		"newlyCreatedFiles", "newlyCreatedFolders", "pendingCreateWorktree", "pendingExitedCustomMode", "planModeSuggestionUsed",
		"promptTokenBreakdown", "queueItems", "removedFiles", "stopHookLoopCount", "subtitle", "tabs", "tokenCount",
		"totalLinesAdded", "totalLinesRemoved", "usageData", "usesCodebase", "worktreeStartedReadOnly")
	t.own = true
	return t
})

// fill takes what a session's own record says. What its heads say fills the
// gaps.
func (c *chat) fill(f *fields) {
	e, s := c.entry, &c.out
	s.ID, s.Agent, s.Turns, s.Bytes = e.id, session.CursorIDE, -1, -1
	if id := f.text(comID); id != "" && id != e.id {
		f.keep(comID)
	}
	s.Title = cmp.Or(f.text(comName), f.text(comTabTitle), f.text(comPlainTitle), e.title)
	s.Created, s.Updated = f.stamp(comCreated), f.stamp(comUpdated)
	if sent := f.stamp(comTabSent); sent.Known() {
		s.Updated = sent
	}
	if !s.Created.Known() {
		s.Created = e.created
	}
	if !s.Updated.Known() {
		s.Updated = e.updated
	}
	s.Mode = cmp.Or(modeOf(f.raw(comMode)), f.text(comForced), e.mode)
	if raw := f.full(comMode); raw != nil && modeOf(raw) == "" {
		f.keep(comMode)
	}
	if raw := f.full(comForced); raw != nil && rawjson.Text(raw) != s.Mode {
		f.keep(comForced)
	}
	if _, ok := whole(f.raw(comVersion)); !ok {
		f.keepFull(comVersion)
	}
	for _, i := range [...]int{comTabTitle, comPlainTitle} {
		if name := f.raw(i); name != nil && rawjson.Text(name) != s.Title {
			f.keep(i)
		}
	}
	if id := f.full(comPlainID); id != nil && rawjson.Text(id) != e.id {
		f.keep(comPlainID)
	}
	s.Branch = cmp.Or(f.text(comBranch), e.branch)
	if name := rawjson.Text(rawjson.Last(f.raw(comModel), "modelName")); name != "default" {
		s.Model = name // "default" is the client's own choice
	}
	f.keepFull(comModel)
	used, ok := f.whole(comUsed)
	limit, more := f.whole(comLimit)
	if ok && more && limit > 0 {
		s.Context = &session.Context{Used: used, Max: limit}
	} else {
		f.keepFull(comUsed, comLimit)
	}
	c.status(f)
	c.family(f)
	c.work(f)
	f.keepFull(comText, comRichText) // what stands in the input box is no message
}

// status says how a session stands.
func (c *chat) status(f *fields) {
	archived, draft := f.flag(comArchived) || c.entry.archived, f.flag(comDraft) || c.entry.draft
	status := f.text(comStatus)
	c.ended = status
	switch {
	case draft:
		c.out.Status = "draft"
	case archived:
		c.out.Status = "archived"
	case status == "generating":
		c.out.Status = "running"
	case status == "error":
		c.out.Status = "error"
	case status != "":
		c.out.Status = "idle"
	}
	switch status {
	case "", "none", "completed", "generating", "error":
	default:
		f.keep(comStatus)
	}
	if c.entry.bestOf = c.entry.bestOf || f.flag(comBestOf); c.entry.bestOf {
		c.out.Extras = append(c.out.Extras, session.Extra{Name: "isBestOfNSubcomposer", Raw: session.Raw("true")})
	}
}

// unnamed is the id of a bubble that has none.
func unnamed(n int) string { return fmt.Sprintf("bubble-%d", n+1) }
