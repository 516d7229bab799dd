// Package gemini reads the sessions of Gemini CLI:
//
//	$GEMINI_CLI_HOME/.gemini, or ~/.gemini
//	    projects.json                         the folders of projects, and their names below tmp
//	    tmp/<name>/.project_root              the folder of the project
//	    tmp/<name>/chats/session-<UTC time>-<first 8 characters of the id>.jsonl
//	    tmp/<name>/chats/<id of a session>/<id>.jsonl    a subagent that it began
//	    tmp/<name>/chats/session-….json       the same of older versions, see Document
//
// Seen: what version 0.61.0 writes, in its terminal, with -p and over ACP, and what 0.38.2 and 0.16.0 write with -p.
//
// # Lines
//
// A file is a log in which later lines change earlier ones, see the type log:
//
//	{"sessionId", "projectHash", …}    the head; sessions over ACP have two
//	{"id", "type", "content", …}       a message: user, gemini, info, warning or error. The same id
//	                                   again replaces it, in its place
//	{"$set": {…}}                      settings; with messages a list of all messages from now on
//	{"$rewindTo": id}                  that message and all after it are gone; an unknown id: all
//
// # Files of older versions
//
// They are one JSON object each, the head with a list of the messages as they are in lines, and nothing else: no settings,
// no rewound messages, no earlier states. They are told as if the messages were lines. In versions that have no names
// of projects, the folder below tmp is named by the SHA-256 of the project's path, which nothing else tells: their
// sessions have no folder. A newer version that resumes such a session writes a file of lines
// with the same name beside it, which is read then instead.
//
// # What is made of it
//
// What is sent is a chain; what was rewound, or is in no list any more, is a branch at its place,
// as is an earlier state of a message that says something else. An earlier state that says
// nothing else is superseded. A list that begins with a <state_snapshot> is a compaction, and
// what it leaves out is archived. A result stands with its call, and in a line of the user as
// well: that line is part of the message with the call, if it says nothing else.
//
// # What the client sends
//
// It sends no thoughts and no messages of type info, warning or error, and no prompt that begins
// with "/" or "?". It makes the <session_context> anew. Results are wrapped in
// <untrusted_context>, and sent so. Each result is sent twice.
//
// # Why nothing is written
//
// Resuming a session leaves a second file that has its id and no message. The next start deletes
// each file without messages, and with it all files whose names end with the same eight
// characters: the session that was resumed. It is so in 0.61.0, the newest version. Until it has
// stopped, what rehome wrote would be deleted, too.
//
// # What the client does with what is damaged
//
//	a line that is cut or no JSON    skipped without a word
//	the first line is gone           the session is not listed, and the next start deletes the file
//	a call without a result          the model is told that the result was lost
//	a result without a call          a call without arguments is put before it
//
// # Not verified
//
// Subagents in files of older versions. Checkpoints of /chat save. Memory of projects.
package gemini
