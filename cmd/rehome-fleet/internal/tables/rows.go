package tables

// Origin says where a row comes from.
type Origin struct {
	Machine   string `parquet:"machine,optional,dict" bare:"own" doc:"the machine of the store, as its operator calls it"`
	UnitID    string `parquet:"unit_id,optional,dict" bare:"own" doc:"the unit of work that wrote the row"`
	Store     string `parquet:"store,optional,dict" private:"" doc:"path of the store below the source; . is the source itself"`
	Agent     string `parquet:"agent,optional,dict" bare:"name" doc:"the client: cursor-cli, cursor-sdk, cursor-ide, claude-code, codex, ..."`
	Workspace string `parquet:"workspace,optional,dict" private:"" doc:"the project folder of the session"`
	SessionID string `parquet:"session_id,optional,dict" bare:"own" doc:"the client's id of the session; NULL only in losses of a store"`
	Address   string `parquet:"address,optional" private:"" doc:"the record of the store that the row was made from"`
}

// Session is a row of the table sessions.
type Session struct {
	Origin
	Format         string   `parquet:"format,dict" bare:"own" doc:"the format of the store"`
	Complete       bool     `parquet:"complete" doc:"false: the session could not be read, and no other table has rows of it, except losses"`
	ReadError      string   `parquet:"read_error,optional" private:"" doc:"why it could not be read"`
	Title          string   `parquet:"title,optional" private:"" doc:"the client's title"`
	CreatedAt      *int64   `parquet:"created_at,timestamp(millisecond)" doc:"when it was created"`
	UpdatedAt      *int64   `parquet:"updated_at,timestamp(millisecond)" doc:"when it was last changed"`
	TimesInferred  bool     `parquet:"times_inferred" doc:"a time of this row was derived, because the store does not state it"`
	ParentSession  string   `parquet:"parent_session,optional" bare:"own" doc:"of a subagent: the session that started it"`
	ParentCall     string   `parquet:"parent_call,optional" bare:"id" doc:"of a subagent: the tool call that started it"`
	Status         string   `parquet:"status,optional,dict" bare:"name" doc:"idle, running, error, archived, ..."`
	Mode           string   `parquet:"mode,optional,dict" bare:"name" doc:"agent, ask, plan, ..."`
	Model          string   `parquet:"model,optional,dict" bare:"model" doc:"the last model used"`
	GitBranch      string   `parquet:"git_branch,optional" private:"" doc:"the git branch"`
	Folders        []string `parquet:"folders,list" private:"" doc:"workspace folders besides the first"`
	Turns          int64    `parquet:"turns" doc:"number of turns"`
	Messages       int64    `parquet:"messages" doc:"number of messages"`
	ToolCalls      int64    `parquet:"tool_calls" doc:"number of tool calls"`
	ToolErrors     int64    `parquet:"tool_errors" doc:"number of tool results that are errors"`
	TextBytes      int64    `parquet:"text_bytes" doc:"sum of messages.text_bytes"`
	InputTokens    *int64   `parquet:"input_tokens" doc:"sum over the turns that state it"`
	OutputTokens   *int64   `parquet:"output_tokens" doc:"sum over the turns that state it"`
	ContextUsed    *int64   `parquet:"context_used" doc:"tokens in the context window at the end"`
	ContextMax     *int64   `parquet:"context_max" doc:"size of the context window in tokens"`
	Media          int64    `parquet:"media" doc:"images and files, whose content is not in the tables"`
	FileSnapshots  int64    `parquet:"file_snapshots" doc:"snapshots of files, which are not in the tables"`
	OpaqueParts    int64    `parquet:"opaque_parts" doc:"parts of messages that rehome carries without understanding them, which are not in the tables"`
	ExtraMembers   int64    `parquet:"extra_members" doc:"members of records that rehome carries without understanding them, which are not in the tables"`
	InvalidTimes   int64    `parquet:"invalid_times" doc:"times outside of the years 1 to 9999, which are NULL"`
	LossesReported int64    `parquet:"losses" doc:"sum of losses.count of the session"`
}

// Turn is a row of the table turns.
type Turn struct {
	Origin
	Turn             int64  `parquet:"turn" doc:"number of the turn, from 1"`
	Branch           string `parquet:"branch,optional,dict" bare:"name" doc:"name of the abandoned branch that the turn is on; NULL for the live one"`
	TurnID           string `parquet:"turn_id,optional" bare:"id" doc:"the client's id of the turn, such as that of a run"`
	RequestID        string `parquet:"request_id,optional" bare:"id" doc:"the client's id of the request"`
	Kind             string `parquet:"kind,optional,dict" bare:"name" doc:"NULL for a turn of the agent, shell for a command that the user ran"`
	Model            string `parquet:"model,optional,dict" bare:"model" doc:"the model"`
	Mode             string `parquet:"mode,optional,dict" bare:"name" doc:"agent, ask, plan, ..."`
	Status           string `parquet:"status,optional,dict" bare:"name" doc:"queued, running, finished, error, cancelled, expired"`
	Error            string `parquet:"error,optional" private:"" doc:"the message of an error"`
	StartedAt        *int64 `parquet:"started_at,timestamp(millisecond)" doc:"when it started"`
	EndedAt          *int64 `parquet:"ended_at,timestamp(millisecond)" doc:"when it ended"`
	DurationMS       *int64 `parquet:"duration_ms" doc:"from start to end, if both are known and in order"`
	TimesInferred    bool   `parquet:"times_inferred" doc:"a time of this row was derived, because the store does not state it"`
	InputTokens      *int64 `parquet:"input_tokens" doc:"tokens of the input"`
	OutputTokens     *int64 `parquet:"output_tokens" doc:"tokens of the output"`
	CacheReadTokens  *int64 `parquet:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWriteTokens *int64 `parquet:"cache_write_tokens" doc:"tokens written to the cache"`
	ReasoningTokens  *int64 `parquet:"reasoning_tokens" doc:"tokens of reasoning"`
	TotalTokens      *int64 `parquet:"total_tokens" doc:"all tokens, as the client states it"`
	Messages         int64  `parquet:"messages" doc:"number of messages, with the one that starts the turn"`
	ToolCalls        int64  `parquet:"tool_calls" doc:"number of tool calls"`
}

// Place is where in its session a row of a message is. It has no pointers: in embedded
// fields, the library reads those that are NULL as 0.
type Place struct {
	Seq       int64  `parquet:"seq" doc:"position of the message in the session, from 0"`
	Turn      int64  `parquet:"turn,optional" doc:"number of its turn; NULL before the first"`
	Branch    string `parquet:"branch,optional,dict" bare:"name" doc:"name of the abandoned branch that it is on; NULL for the live one"`
	MessageID string `parquet:"message_id,optional" bare:"id" doc:"id of the message, unique in the session"`
}

// Message is a row of the table messages.
type Message struct {
	Origin
	Place
	ParentID      string   `parquet:"parent_id,optional" bare:"id" doc:"the message that it follows; NULL for the previous one"`
	Role          string   `parquet:"role,dict" bare:"name" doc:"system, user, assistant or tool"`
	SentAt        *int64   `parquet:"sent_at,timestamp(millisecond)" doc:"its time"`
	EndedAt       *int64   `parquet:"ended_at,timestamp(millisecond)" doc:"when it was complete"`
	TimesInferred bool     `parquet:"times_inferred" doc:"a time of this row was derived, because the store does not state it"`
	Model         string   `parquet:"model,optional,dict" bare:"model" doc:"the model, if the message states it"`
	Simulated     bool     `parquet:"simulated" doc:"a message of a user that the client wrote"`
	Archived      bool     `parquet:"archived" doc:"the model no longer sees it, because the session was compacted"`
	Parts         []string `parquet:"parts,list" bare:"own" doc:"the types of its parts in order: text, context, thinking, tool_call, tool_result, media, summary, boundary, opaque"`
	Text          string   `parquet:"text,optional" private:"" doc:"what the user typed or the model answered: the parts text, joined with a blank line"`
	Thinking      string   `parquet:"thinking,optional" private:"" doc:"the parts thinking, joined with a blank line"`
	Context       string   `parquet:"context,optional" private:"" doc:"what the client added to a prompt: the parts context, joined with a blank line; of an attachment without text its record, as JSON"`
	Summary       string   `parquet:"summary,optional" private:"" doc:"what the client keeps of compacted messages: the parts summary, joined with a blank line"`
	TextBytes     int64    `parquet:"text_bytes" doc:"size of text in the store, in bytes of UTF-8"`
	ThinkingBytes int64    `parquet:"thinking_bytes" doc:"size of thinking"`
	ContextBytes  int64    `parquet:"context_bytes" doc:"size of context"`
	SummaryBytes  int64    `parquet:"summary_bytes" doc:"size of summary"`
	Media         int64    `parquet:"media" doc:"images and files"`
	MediaBytes    int64    `parquet:"media_bytes" doc:"size of their content, as far as the store has it"`
}

// ToolCall is a row of the table tool_calls.
type ToolCall struct {
	Origin
	Place
	Part          int64  `parquet:"part" doc:"position in the message, from 0"`
	CallID        string `parquet:"call_id,optional" bare:"id" doc:"id of the call"`
	Name          string `parquet:"name,optional,dict" bare:"name" doc:"the model's name for the tool"`
	Kind          string `parquet:"kind,optional,dict" bare:"name" doc:"the client's kind of tool: shell, read, edit, ..."`
	Args          string `parquet:"args,optional" private:"" doc:"the arguments that the tool ran with, as JSON text; if the store has only those that the model wrote, these"`
	Input         string `parquet:"input,optional" private:"" doc:"the arguments as the model wrote them, as JSON text, if the store has both"`
	ArgsBytes     int64  `parquet:"args_bytes" doc:"size of args"`
	StartedAt     *int64 `parquet:"started_at,timestamp(millisecond)" doc:"when it started"`
	EndedAt       *int64 `parquet:"ended_at,timestamp(millisecond)" doc:"when it ended"`
	DurationMS    *int64 `parquet:"duration_ms" doc:"from start to end, if both are known and in order"`
	TimesInferred bool   `parquet:"times_inferred" doc:"a time of this row was derived, because the store does not state it"`
	Answered      bool   `parquet:"answered" doc:"the session has a result of the call"`
	Status        string `parquet:"status,optional,dict" bare:"name" doc:"status of the result: success, failure, rejected, timeout, ..."`
	Error         *bool  `parquet:"error" doc:"the result is an error; NULL if there is none"`
	ResultBytes   *int64 `parquet:"result_bytes" doc:"text_bytes of the result; NULL if there is none"`
	ChildSession  string `parquet:"child_session,optional" bare:"own" doc:"the subagent that the call started"`
}

// ToolResult is a row of the table tool_results.
type ToolResult struct {
	Origin
	Place
	Part       int64  `parquet:"part" doc:"position in the message, from 0"`
	CallID     string `parquet:"call_id,optional" bare:"id" doc:"id of the call"`
	Status     string `parquet:"status,optional,dict" bare:"name" doc:"success, failure, rejected, timeout, ..."`
	Error      bool   `parquet:"error" doc:"the result is an error"`
	Text       string `parquet:"text,optional" private:"" doc:"what the model saw: the texts of the result, joined with a blank line"`
	Value      string `parquet:"value,optional" private:"" doc:"the client's structured record of the result, as JSON text"`
	TextBytes  int64  `parquet:"text_bytes" doc:"size of text in the store, in bytes of UTF-8"`
	ValueBytes int64  `parquet:"value_bytes" doc:"size of value"`
	Media      int64  `parquet:"media" doc:"images and files"`
	MediaBytes int64  `parquet:"media_bytes" doc:"size of their content, as far as the store has it"`
}

// Loss is a row of the table losses.
type Loss struct {
	Origin
	Code        string   `parquet:"code,dict" bare:"own" doc:"the code of the loss, see docs/fidelity.md"`
	Kind        string   `parquet:"kind,dict" bare:"own" doc:"reshaped, inferred, missing, dropped or unreadable"`
	Consequence string   `parquet:"consequence,dict" bare:"own" doc:"what it means for who continues the session"`
	What        string   `parquet:"what,optional" private:"" doc:"the loss in words"`
	Count       int64    `parquet:"count" doc:"how often it occurred"`
	Places      []string `parquet:"places,list" private:"" doc:"the records of the first few"`
}
