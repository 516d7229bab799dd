// Package cursortranscript reads agent-transcripts: the readable copies that
// Cursor's clients write of their sessions, for agents to look things up in.
//
//	~/.cursor/projects/<slug>/agent-transcripts/
//	    <id>/<id>.jsonl               one session; .txt in old clients
//	    <id>/subagents/<child>.jsonl  its subagents
//	    <id>.jsonl, <id>.txt          as older clients laid them out
//
// The folder is one store; so is a session's folder in it, and so is a file. A
// project folder, which holds more than that, is not claimed.
//
// # A copy is not the session
//
// It has no results of tools (but see the old text), no ids, times or models, no system prompt and no
// context; thinking stands at the end of a text, unmarked, and as [REDACTED] where
// its provider withheld it. Each session that is read from one is noted as such,
// and wherever the store itself is there, that is the one to read. Some sessions
// have only this.
//
// # What is made of it
//
// A prompt's <user_query> is the prompt; other envelopes are context. A
// <timestamp>, as clients write since 2026, is the only time there is: it is
// to the minute, in words, and counts as worked out. A line turn_ended says how
// the turn in front of it ended. A session's title is the first line of its
// first prompt. The slug, from which a project's path cannot be told, is kept
// as an extra.
//
// Whether the CLI or the IDE wrote a file, its content does not tell. Ids that
// begin with agent- are the SDK's; all others are said to be the CLI's.
//
// Where several files have one session, the lines of JSON count, and of these
// the newer layout. The others are counted as superseded.
//
// # The old text
//
// Blocks headed user: and assistant:, in them [Thinking], [Tool call] with
// indented arguments, [Tool result], sometimes with its text, and Turn ended: at
// the end. Arguments are strings, whatever they were, which is noted. It has no escapes: a prompt that holds such a line is taken apart
// at it.
//
// # Not verified
//
// How the old text wrote arguments of several lines; the file form .json, which
// is not read.
package cursortranscript
