package lists

import (
	"sync"

	"rehome/formats/internal/members"
)

// The members of composerData that are understood.
const (
	ComID = iota
	ComVersion
	ComName
	ComCreated
	ComUpdated
	ComHeaders
	ComTalk
	ComMap
	ComStatus
	ComMode
	ComForced
	ComModel
	ComUsed
	ComLimit
	ComArchived
	ComDraft
	ComSubs
	ComSubagents
	ComSubagentInfo
	ComSpace
	ComTree
	ComRepos
	ComBranch
	ComState
	ComSummary
	ComTodos
	ComOriginals
	ComBlocks
	ComCapabilities
	ComBestOf
	ComText
	ComRichText
	ComTabBubbles
	comTabID
	ComTabTitle
	ComTabSent
	ComPlainID
	ComPlainTitle
	ComMessages
	ComRehome // what package write says of a session that it wrote
)

var ComposerTable = sync.OnceValue(func() *members.Table {
	t := members.NewTable([]string{
		ComID: "composerId", ComVersion: "_v", ComName: "name", ComCreated: "createdAt", ComUpdated: "lastUpdatedAt",
		ComHeaders: "fullConversationHeadersOnly", ComTalk: "conversation", ComMap: "conversationMap", ComStatus: "status",
		ComMode: "unifiedMode", ComForced: "forceMode", ComModel: "modelConfig", ComUsed: "contextTokensUsed",
		ComLimit: "contextTokenLimit", ComArchived: "isArchived", ComDraft: "isDraft", ComSubs: "subComposerIds",
		ComSubagents: "subagentComposerIds", ComSubagentInfo: "subagentInfo", ComSpace: "workspaceIdentifier",
		ComTree: "gitWorktree", ComRepos: "trackedGitRepos", ComBranch: "createdOnBranch", ComState: "conversationState",
		ComSummary: "latestConversationSummary", ComTodos: "todos", ComOriginals: "originalFileStates",
		ComBlocks: "codeBlockData", ComCapabilities: "capabilities", ComBestOf: "isBestOfNSubcomposer", ComText: "text",
		ComRichText: "richText", ComTabBubbles: "bubbles", comTabID: "tabId", ComTabTitle: "chatTitle", ComTabSent: "lastSendTime",
		ComPlainID: "id", ComPlainTitle: "title", ComMessages: "messages", ComRehome: "rehome",
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
	t.Own = true
	return t
})
