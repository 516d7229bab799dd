// Package gemini reads the sessions of Gemini CLI:
//
//	$GEMINI_CLI_HOME/.gemini, or ~/.gemini
//	    projects.json                         the folders of projects, and their names below tmp
//	    tmp/<name>/.project_root              the folder of the project
//	    tmp/<name>/chats/session-<UTC time>-<first 8 characters of the id>.jsonl
//	    tmp/<name>/chats/<id of a session>/<id>.jsonl    a subagent that it began
//
// Seen: what version 0.61.0 writes, in its terminal, with -p and over ACP.
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
// Files of versions before 0.40, which are one JSON object (session-….json): they are kept by
// `rehome backup`, and not read. Checkpoints of /chat save. Memory of projects.
package gemini
