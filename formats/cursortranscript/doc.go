// Package cursortranscript reads agent-transcripts: readable copies that
// Cursor's clients write of their sessions, for agents to look things up in.
//
// # Where they live
//
//	~/.cursor/projects/<slug>/agent-transcripts/
//	    <id>/<id>.jsonl               one session; .txt in old clients
//	    <id>/subagents/<child>.jsonl  its subagents
//	    <id>.jsonl, <id>.txt          the layout of older clients
//
// The folder is one store; so is a session's folder in it, and so is a file. A
// project folder is not claimed, because it contains more than transcripts.
//
// # A copy is not the session
//
// A transcript has no tool results (some old text files have them), no ids, times
// or models, no system prompt and no context. Thinking is unmarked at the end of
// a text, or [REDACTED] where its provider withheld it. Every session read from a
// transcript is noted as such; read the store itself wherever it exists. Some
// sessions exist only as transcripts.
//
// # As a session
//
// A prompt's <user_query> is the prompt; other envelopes are context. The
// <timestamp> that clients write since 2026 is the only time there is. It is
// prose, exact to the minute, and counts as inferred. A turn_ended line says how
// the previous turn ended. A session's title is the first line of its first
// prompt. The slug is kept as an Extra; the project's path cannot be recovered
// from it.
//
// The content does not show whether the CLI or the IDE wrote a file. Ids that
// start with agent- belong to the SDK; all others are attributed to the CLI.
//
// If several files hold the same session, JSON Lines are preferred over text, and
// the newer layout over the older one. The lines of the other files are counted
// as superseded.
//
// # The old text
//
// Blocks headed user: and assistant:, which contain [Thinking], [Tool call] with
// indented arguments, [Tool result], sometimes with its text, and Turn ended: at
// the end. All arguments are strings, whatever their type was, and this is noted.
// There are no escapes: a prompt that contains such a line is split there.
//
// # Not verified
//
// How the old text wrote arguments of several lines; the .json files, which are
// not read.
package cursortranscript
