package read

import (
	"sync"

	"rehome/formats/internal/members"
)

// The members of a bubble that are understood, and where they stand in fields.
const (
	bubType = iota
	bubID
	bubVersion
	bubText
	bubRichText
	bubCreated
	bubTiming
	bubThinking
	bubThoughts
	bubThoughtMillis
	bubCapability
	bubTool
	bubToolResults
	bubImages
	bubTokens
	bubModelInfo
	bubModelType
	bubMode
	bubRequest
	bubError
	bubSimulated
	bubSummary
	bubCachedSummary
	bubContext
	bubGitStatus
	bubState
	bubAttached // the first of what is attached to a prompt, see attachments
)

// attachment is a list in a bubble or its context, whose elements were attached to the
// prompt: each is one part, of that kind.
type attachment struct{ member, kind string }

// attachments lists those of a bubble, which follow bubAttached, and of its context.
var (
	bubbleAttachments = [...]attachment{
		{"attachedCodeChunks", "selection"},
		{"attachedFileCodeChunksMetadataOnly", "file"},
		{"codebaseContextChunks", "selection"},
		{"contextPieces", "context_piece"},
		{"relevantFiles", "relevant_file"},
		{"recentlyViewedFiles", "recent_file"},
		{"attachedFolders", "folder"},
		{"attachedFoldersNew", "folder"},
		{"attachedFoldersListDirResults", "folder_listing"},
		{"cursorRules", "rule"},
		{"cursorCommands", "command"},
		{"docsReferences", "doc"},
		{"documentationSelections", "doc"},
		{"webReferences", "web_reference"},
		{"aiWebSearchResults", "web_search"},
		{"externalLinks", "link"},
		{"commits", "commit"},
		{"pullRequests", "pull_request"},
		{"gitDiffs", "diff"},
		{"notepads", "notepad"},
		{"knowledgeItems", "knowledge"},
		{"summarizedComposers", "past_chat"},
		{"pastChats", "past_chat"},
		{"projectLayouts", "project_layout"},
		{"lints", "lint"},
		{"multiFileLinterErrors", "lint"},
		{"humanChanges", "human_change"},
		{"diffsSinceLastApply", "diff"},
		{"deletedFiles", "deleted_file"},
		{"consoleLogs", "console_log"},
		{"uiElementPicked", "ui_element"},
		{"mcpDescriptors", "mcp"},
	}
	contextAttachments = [...]attachment{
		{"selections", "selection"},
		{"fileSelections", "file"},
		{"folderSelections", "folder"},
		{"terminalSelections", "terminal"},
		{"terminalFiles", "terminal"},
		{"selectedDocs", "doc"},
		{"externalLinks", "link"},
		{"cursorRules", "rule"},
		{"cursorCommands", "command"},
		{"quotes", "quote"},
		{"composers", "past_chat"},
		{"pastChats", "past_chat"},
		{"notepads", "notepad"},
		{"selectedCommits", "commit"},
		{"selectedPullRequests", "pull_request"},
		{"gitPRDiffSelections", "diff"},
		{"uiElementSelections", "ui_element"},
		{"consoleLogs", "console_log"},
		{"subagentSelections", "subagent"},
		{"browserSelections", "browser"},
	}
)

// bubbleIdle lists members that mean nothing if they are empty, as they are in nearly
// every bubble.
var bubbleIdle = [...]string{
	"approximateLintErrors", "assistantSuggestedDiffs", "attachedHumanChanges", "capabilities", "capabilitiesRan",
	"capabilityContexts", "capabilityStatuses", "codeBlocks", "diffHistories", "diffsForCompressingFiles",
	"editToolSupportsSearchAndReplace", "editTrailContexts", "existedPreviousTerminalCommand",
	"existedSubsequentTerminalCommand", "fileDiffTrajectories", "fileLinks", "ideEditorsState", "interpreterResults",
	"isAgentic", "isChat", "isNudge", "isPlanExecution", "isQuickSearchQuery", "isRefunded", "isReviewEditsFollowup",
	"isSimpleLoopingMessage", "recentLocationsHistory", "skipRendering", "suggestedCodeBlocks", "supportedTools",
	"symbolLinks", "thinkingStyle", "todos", "tokenCountUpUntilHere", "useWeb",
	"userResponsesToSuggestedCodeBlocks", "usageUuid", "workspaceUris", "cursorCommandsExplicitlySet",
	"pastChatsExplicitlySet", "subagentReturn", "tokenDetails", "turnSteer",
}

// bubbleTable is made of all that.
var bubbleTable = sync.OnceValue(func() *members.Table {
	claimed := []string{
		bubType: "type", bubID: "bubbleId", bubVersion: "_v", bubText: "text", bubRichText: "richText",
		bubCreated: "createdAt", bubTiming: "timingInfo", bubThinking: "thinking", bubThoughts: "allThinkingBlocks",
		bubThoughtMillis: "thinkingDurationMs", bubCapability: "capabilityType", bubTool: "toolFormerData",
		bubToolResults: "toolResults", bubImages: "images", bubTokens: "tokenCount", bubModelInfo: "modelInfo",
		bubModelType: "modelType", bubMode: "unifiedMode", bubRequest: "requestId", bubError: "errorDetails",
		bubSimulated: "isSimulatedMsg", bubSummary: "conversationSummary", bubCachedSummary: "cachedConversationSummary",
		bubContext: "context", bubGitStatus: "gitStatusRaw", bubState: "conversationState",
	}
	for _, a := range bubbleAttachments {
		claimed = append(claimed, a.member)
	}
	return members.NewTable(claimed, bubbleIdle[:]...)
})
