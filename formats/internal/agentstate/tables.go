package agentstate

import (
	"sync"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// The structs below are the messages that a conversation is made of, as far as sessions
// have a place for their fields. Numbers and types are in wire's messages.txt; all other
// fields are in wire.Unknown, and become Extras.

// conversation is a ConversationStateStructure: the root of a conversation.
type conversation struct {
	Prompts   []ID      `wire:"rootPromptMessagesJson"`
	Todos     []ID      `wire:"todos"`
	Pending   wire.List `wire:"pendingToolCalls"`
	Tokens    []byte    `wire:"tokenDetails"`
	Summary   ID        `wire:"summary"`
	Plan      ID        `wire:"plan"`
	Turns     []ID      `wire:"turns"`
	URIs      wire.List `wire:"previousWorkspaceUris"`
	Mode      uint64    `wire:"mode"`
	Archive   ID        `wire:"summaryArchive"`
	Files     wire.List `wire:"fileStates"`
	Archives  []ID      `wire:"summaryArchives"`
	Timings   wire.List `wire:"turnTimings"`
	FilesV2   wire.List `wire:"fileStatesV2"`
	Children  wire.List `wire:"subagentStates"`
	Branch    []byte    `wire:"activeBranchName"`
	Repos     wire.List `wire:"trackedGitRepoBranches"`
	Threads   wire.List `wire:"subagentThreads"`
	Started   uint64    `wire:"conversationStartedTimestampMs"`
	Runs      wire.List `wire:"subagentRunsByParentToolCallId"`
	ChildRefs wire.List `wire:"subagentStateRefs"`
	wire.Unknown
}

type tokenDetails struct {
	Used     uint64 `wire:"usedTokens"`
	Max      uint64 `wire:"maxTokens"`
	Snapshot ID     `wire:"promptContextUsageSnapshotBlobId"`
	wire.Unknown
}

type stepTiming struct {
	Millis uint64 `wire:"durationMs"`
	End    uint64 `wire:"timestampMs"`
	wire.Unknown
}

type trackedRepo struct {
	Path   []byte `wire:"repoPath"`
	Branch []byte `wire:"branchName"`
	wire.Unknown
}

// fileState is a FileStateStructure: a file before and after the conversation.
type fileState struct {
	After  ID `wire:"content"`
	Before ID `wire:"initialContent"`
	wire.Unknown
}

type todoItem struct {
	ID      []byte    `wire:"id"`
	Content []byte    `wire:"content"`
	Status  uint64    `wire:"status"`
	Created uint64    `wire:"createdAt"`
	Updated uint64    `wire:"updatedAt"`
	Needs   wire.List `wire:"dependencies"`
	wire.Unknown
}

type summaryArchive struct {
	Messages []ID   `wire:"summarizedMessages"`
	Text     []byte `wire:"summary"`
	Summary  ID     `wire:"summaryMessage"`
	wire.Unknown
}

// persistedChild is a SubagentPersistedState.
type persistedChild struct {
	State    []byte `wire:"conversationState"`
	Created  uint64 `wire:"createdTimestampMs"`
	LastUsed uint64 `wire:"lastUsedTimestampMs"`
	Type     []byte `wire:"subagentType"`
	Model    []byte `wire:"modelId"`
	wire.Unknown
}

// childRun is a SubagentRunState.
type childRun struct {
	Call      []byte `wire:"parentToolCallId"`
	Child     []byte `wire:"subagentId"`
	Status    uint64 `wire:"status"`
	Title     []byte `wire:"title"`
	Completed uint64 `wire:"completedTimestampMs"`
	wire.Unknown
}

// turnCases is a ConversationTurnStructure.
type turnCases struct {
	Agent []byte `wire:"agentConversationTurn"`
	Shell []byte `wire:"shellConversationTurn"`
	wire.Unknown
}

type agentTurn struct {
	User    ID     `wire:"userMessage"`
	Steps   []ID   `wire:"steps"`
	Request []byte `wire:"requestId"`
	Model   []byte `wire:"routedModelDisplayName"`
	wire.Unknown
}

type shellTurn struct {
	Command ID `wire:"shellCommand"`
	Output  ID `wire:"shellOutput"`
	wire.Unknown
}

type shellOutput struct {
	ExitCode uint64 `wire:"exitCode"`
	wire.Unknown
}

type userMessage struct {
	Text      []byte    `wire:"text"`
	ID        []byte    `wire:"messageId"`
	Context   []byte    `wire:"selectedContext"`
	Mode      uint64    `wire:"mode"`
	Simulated bool      `wire:"isSimulatedMsg"`
	TextBlob  ID        `wire:"textBlobId"`
	RichBlob  ID        `wire:"richTextBlobId"`
	Hooks     wire.List `wire:"hookAdditionalContexts"`
	Started   uint64    `wire:"startedAtMs"`
	Completed uint64    `wire:"completedAtMs"`
	wire.Unknown
}

// blobWithData is the BlobIdWithData of an attached image, video or document.
type blobWithData struct {
	Blob ID     `wire:"blobId"`
	Data []byte `wire:"data"`
	wire.Unknown
}

// step is a ConversationStep: one of the three.
type step struct {
	Text     []byte `wire:"assistantMessage"`
	Call     []byte `wire:"toolCall"`
	Thinking []byte `wire:"thinkingMessage"`
	wire.Unknown
}

type assistantMessage struct {
	Text      []byte `wire:"text"`
	Started   uint64 `wire:"startedAtMs"`
	Completed uint64 `wire:"completedAtMs"`
	wire.Unknown
}

type thinkingMessage struct {
	Text      []byte `wire:"text"`
	Millis    uint64 `wire:"durationMs"`
	Started   uint64 `wire:"startedAtMs"`
	Completed uint64 `wire:"completedAtMs"`
	wire.Unknown
}

// callEnvelope is a ToolCall without the message of its kind, which is among the unknown
// fields.
type callEnvelope struct {
	Hooks     wire.List `wire:"hookAdditionalContexts"`
	ID        []byte    `wire:"toolCallId"`
	Started   uint64    `wire:"startedAtMs"`
	Completed uint64    `wire:"completedAtMs"`
	wire.Unknown
}

// callBody is the message of a tool call's kind.
type callBody struct {
	Args   []byte `wire:"args"`
	Result []byte `wire:"result"`
	wire.Unknown
}

// truncatedCall refers to the step that holds the call in full.
type truncatedCall struct {
	Step ID `wire:"originalStepBlobId"`
	wire.Unknown
}

type taskArgs struct {
	Title  []byte `wire:"description"`
	Prompt []byte `wire:"prompt"`
	Type   []byte `wire:"subagentType"`
	Model  []byte `wire:"model"`
	Child  []byte `wire:"agentId"`
	wire.Unknown
}

type taskSuccess struct {
	Steps wire.List `wire:"conversationSteps"`
	Child []byte    `wire:"agentId"`
	wire.Unknown
}

// oneMessage and oneText are messages of which one field matters.
type oneMessage struct {
	Body []byte
	wire.Unknown
}

type oneText struct {
	Text []byte
	wire.Unknown
}

// codecTable holds the codecs of these structs.
type codecTable struct {
	root      *wire.Codec[conversation]
	tokens    *wire.Codec[tokenDetails]
	timing    *wire.Codec[stepTiming]
	repo      *wire.Codec[trackedRepo]
	file      *wire.Codec[fileState]
	todo      *wire.Codec[todoItem]
	plan      *wire.Codec[oneText]
	summary   *wire.Codec[oneText]
	archive   *wire.Codec[summaryArchive]
	child     *wire.Codec[persistedChild]
	custom    *wire.Codec[oneText] // the case "custom" of a SubagentType
	run       *wire.Codec[childRun]
	turn      *wire.Codec[turnCases]
	agent     *wire.Codec[agentTurn]
	shell     *wire.Codec[shellTurn]
	command   *wire.Codec[oneText]
	output    *wire.Codec[shellOutput]
	user      *wire.Codec[userMessage]
	hook      *wire.Codec[oneText]
	image     *wire.Codec[blobWithData]
	video     *wire.Codec[blobWithData]
	document  *wire.Codec[blobWithData]
	step      *wire.Codec[step]
	text      *wire.Codec[assistantMessage]
	thinking  *wire.Codec[thinkingMessage]
	call      *wire.Codec[callEnvelope]
	body      *wire.Codec[callBody]
	truncated *wire.Codec[truncatedCall]
	task      *wire.Codec[taskArgs]
	taskCases *wire.Codec[oneMessage]
	success   *wire.Codec[taskSuccess]

	taskKind, truncatedKind *wire.Field // of ToolCall
}

// codecs returns the table, which is made once.
var codecs = sync.OnceValue(func() *codecTable {
	call := wire.Bind[callEnvelope]("ToolCall")
	return &codecTable{
		root:      wire.Bind[conversation]("ConversationStateStructure"),
		tokens:    wire.Bind[tokenDetails]("ConversationTokenDetails"),
		timing:    wire.Bind[stepTiming]("StepTiming"),
		repo:      wire.Bind[trackedRepo]("TrackedGitRepo"),
		file:      wire.Bind[fileState]("FileStateStructure"),
		todo:      wire.Bind[todoItem]("TodoItem"),
		plan:      wire.Bind[oneText]("ConversationPlan", "plan"),
		summary:   wire.Bind[oneText]("ConversationSummary", "summary"),
		archive:   wire.Bind[summaryArchive]("ConversationSummaryArchive"),
		child:     wire.Bind[persistedChild]("SubagentPersistedState"),
		custom:    wire.Bind[oneText]("SubagentTypeCustom", "name"),
		run:       wire.Bind[childRun]("SubagentRunState"),
		turn:      wire.Bind[turnCases]("ConversationTurnStructure"),
		agent:     wire.Bind[agentTurn]("AgentConversationTurnStructure"),
		shell:     wire.Bind[shellTurn]("ShellConversationTurnStructure"),
		command:   wire.Bind[oneText]("ShellCommand", "command"),
		output:    wire.Bind[shellOutput]("ShellOutput"),
		user:      wire.Bind[userMessage]("UserMessage"),
		hook:      wire.Bind[oneText]("HookAdditionalContext", "content"),
		image:     wire.Bind[blobWithData]("SelectedImage.BlobIdWithData"),
		video:     wire.Bind[blobWithData]("SelectedVideo.BlobIdWithData"),
		document:  wire.Bind[blobWithData]("SelectedDocument.BlobIdWithData"),
		step:      wire.Bind[step]("ConversationStep"),
		text:      wire.Bind[assistantMessage]("AssistantMessage"),
		thinking:  wire.Bind[thinkingMessage]("ThinkingMessage"),
		call:      call,
		body:      wire.Bind[callBody]("AnyToolCall"),
		truncated: wire.Bind[truncatedCall]("TruncatedToolCall"),
		task:      wire.Bind[taskArgs]("TaskArgs"),
		taskCases: wire.Bind[oneMessage]("TaskResult", "success"),
		success:   wire.Bind[taskSuccess]("TaskSuccess"),

		taskKind: call.Message.Named("taskToolCall"), truncatedKind: call.Message.Named("truncatedToolCall"),
	}
})

// reused holds the structs that the most frequent messages are decoded into.
type reused struct {
	turn  *wire.Reused[turnCases]
	agent *wire.Reused[agentTurn]
	user  *wire.Reused[userMessage]
	step  *wire.Reused[step]
	text  *wire.Reused[assistantMessage]
	call  *wire.Reused[callEnvelope]
	body  *wire.Reused[callBody]
}

func newReused() reused {
	c := codecs()
	return reused{c.turn.Reuse(), c.agent.Reuse(), c.user.Reuse(), c.step.Reuse(), c.text.Reuse(), c.call.Reuse(), c.body.Reuse()}
}

// keep counts the fields that a struct holds as understood, and returns its unknown fields
// as Extras.
func (s *State) keep(m *wire.Message, u *wire.Unknown) []session.Extra {
	s.ledger.took(int64(u.Fields))
	return s.leftover(m, u.Raw)
}

// word returns the name of an enum's value, "" for an unknown one.
func word(m *wire.Message, field string, n uint64) string { return m.Named(field).Word(n) }
