// Package streamjson reads captures of what the Cursor CLI prints with
// --output-format stream-json, and the single object it prints with
// --output-format json. There is nothing else in the world that turns a log of
// a headless run back into a session, so nothing in it is passed over.
//
// # What a capture is
//
// One JSON object a line. One run of the client is one turn: a line
// system/init, the prompt (user), then thinking, assistant and tool_call lines,
// and a result line at the end. Runs of one session (--resume) are often put
// one behind the other in one file; so are runs of several sessions. They are
// told apart by session_id.
//
//	system/init            model, cwd, apiKeySource, permissionMode
//	user                   the prompt
//	thinking/delta         pieces of reasoning, to be joined; thinking/completed ends them
//	assistant              text: see below
//	tool_call/started      one member ending in ToolCall: {args}; others beside it
//	tool_call/completed    the same with {args, result}
//	result/…               how the run ended, how long it took, what it cost
//
// Everything else is carried as an Opaque part where it stood: questions of the
// client to itself (interaction_query), lost and found connections, retries,
// news of background work, which may come behind the result, kinds of line that
// are not known, and lines that are no JSON at all ("noise").
//
// # Text comes more than once
//
// With --stream-partial-output, a line with timestamp_ms and without
// model_call_id holds a new piece of text. Lines with both, or with neither,
// repeat what the pieces said. Without that flag they are all there is. So
// each text is taken once; where a repetition is longer than its pieces, the
// rest is taken from it, and where it says something else, both are kept and
// that is noted. The result line repeats all texts of the run, without anything
// between them.
//
// After a retry that does not resume, what the lost attempt had said may come
// again. If what follows begins with it, it is taken once; else both remain,
// and the retry stands between them.
//
// # How a file is read
//
// Twice. How a run ended stands at its end, but belongs to the turn's record at
// its beginning; so a first pass notes where each session's lines lie and where
// each run's result is: about a hundred bytes a run. The second pass builds
// messages, one at a time. A live pipe is read once (Format.Stream): there the
// result is a part of its own at the end of the run, instead of the record at
// its beginning.
//
// Parallel calls of one model response stand in one message. Their results wait
// until it is complete, up to a mebibyte of them; then the message is closed
// and later calls make another. A message longer than 16 MiB is cut, and a
// line longer than 64 MiB is noted as unreadable.
//
// Times of lines are taken where they are stated. A run's start and end are
// worked out: its end is the last time that it states, its start lies
// duration_ms before.
//
// A file is known by its first event. Lines in front of it are passed over only
// where the ending says that they may be there: .json, .jsonl, .ndjson, .log,
// .txt. Claude Code and others print a stream whose lines look alike; what has a
// uuid, a parent_tool_use_id, mcp_servers or a cost is theirs.
//
// In the log of a build server, such as GitHub's, a moment and a blank stand in
// front of each line. They are passed over, for they say when the line reached
// the log. Any other prefix, such as a container's name, makes noise of a line.
//
// # Not in a capture
//
// The system prompt, the context in front of a prompt, images of a prompt, what
// subagents did, compactions. A run that failed has no result line: the client
// says why on stderr and stops.
//
// # Not verified
//
// What lines like text, task_notification and background_shell_timeout hold;
// whether a retry repeats text; what a result with is_error is like. Captures
// in UTF-16, as some shells redirect them, are not read.
package streamjson
