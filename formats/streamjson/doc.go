// Package streamjson reads captures of what the Cursor CLI prints with
// --output-format stream-json, and the single object it prints with
// --output-format json. No other tool turns the log of a headless run back into
// a session, so nothing in it is dropped.
//
// # What a capture is
//
// One JSON object per line. One run of the client is one turn: a system/init
// line, the prompt (user), then thinking, assistant and tool_call lines, and a
// result line at the end. One file often contains several runs of one session
// (--resume), or runs of several sessions. They are told apart by session_id.
//
//	system/init            model, cwd, apiKeySource, permissionMode
//	user                   the prompt
//	thinking/delta         pieces of reasoning to concatenate, up to thinking/completed
//	assistant              text: see below
//	tool_call/started      one member ending in ToolCall: {args}, and other members
//	tool_call/completed    the same with {args, result}
//	result/…               how the run ended, how long it took, what it cost
//
// Everything else is carried in its place as an Opaque part: questions that the
// client asks itself (interaction_query), lost and restored connections, retries,
// updates on background work, which may follow the result, unknown types of
// line, and lines that are not JSON ("noise").
//
// # Repeated text
//
// With --stream-partial-output, a line with timestamp_ms and without
// model_call_id holds a new piece of text. Lines with both, or with neither,
// repeat the pieces. Without that flag, only such lines exist. Each text is
// therefore read once. If a repetition is longer than its pieces, the rest is
// taken from it; if it differs, both are kept and that is noted. The result line
// repeats all texts of the run, without separators.
//
// After a retry that does not resume, the text of the lost attempt may be
// repeated. If the new text starts with the old one, it is read once; otherwise
// both are kept, with the retry between them.
//
// # How a file is read
//
// Twice. How a run ended is at the end of its lines but belongs to the turn's
// record at the start. A first pass therefore notes where each session's lines
// and each run's result are, in about a hundred bytes per run. The second pass
// builds messages, one at a time. A live pipe is read once (Format.Stream):
// there the result is a part of its own at the end of the run, instead of a
// record at its start.
//
// Parallel calls of one model response are one message. Their results are held
// until it is complete, up to 1 MiB; beyond that the message is closed and later
// calls form another one. A message longer than 16 MiB is split, and a line
// longer than 64 MiB is noted as unreadable.
//
// Times are read from the lines that state one. A run's start and end are
// inferred: it ends at the last time that it states, and starts duration_ms
// earlier.
//
// A file is recognized by its first event. Lines before it are skipped only in
// files with one of the extensions .json, .jsonl, .ndjson, .log and .txt. Claude
// Code and other clients print a similar stream; a uuid, a parent_tool_use_id,
// mcp_servers or a cost in a line shows that it is theirs.
//
// In the logs of build servers such as GitHub's, a timestamp and a space precede
// each line. They are ignored, because they say when the line reached the log.
// With any other prefix, such as a container's name, a line counts as noise.
//
// # Not in a capture
//
// The system prompt, the context that precedes a prompt, images of a prompt, the
// work of subagents, compactions. A run that failed has no result line: the client
// prints the reason to stderr and stops.
//
// # Not verified
//
// The content of text, task_notification and background_shell_timeout lines;
// whether a retry repeats text; the form of a result with is_error. Captures in
// UTF-16, which some shells write when they redirect output, are not read.
package streamjson
