// Package pi reads and writes the sessions of Pi, the coding agent of Earendil Works:
//
//	$PI_CODING_AGENT_DIR, or ~/.pi/agent
//	    sessions/--<folder, with - for />--/<UTC time>_<id>.jsonl
//
// A file is one session, a JSON object a line. The first line, of type session, has the id,
// by which Pi finds it, and the folder. Each of the others has an id and a parentId: they are
// a tree, and the conversation is the path from the last line to its root.
//
// Seen: what version 1.5.2 writes, and its documentation of the format.
//
// # Lines
//
//	session                 the head: version, id, timestamp, cwd, parentSession of a fork
//	message                 by message.role: system, user, assistant, toolResult, bashExecution, custom
//	compaction              a summary stands for what comes before firstKeptEntryId
//	branch_summary          what was said on a branch that was left
//	custom_message          text of an extension, for the model
//	context_edit            another line has other content from now on, or none
//	model_change, thinking_level_change, session_info   settings
//	custom, label, usage    not for the model
//
// # What is made of it
//
// A message of the user begins a turn. Of several compactions the last one counts: it is put
// before the first line that it keeps. Branches, what a line said before it was edited, and
// commands that the user ran beside the conversation ("!!") are not sent; they are branches.
// Settings are extras of their turn. The usage of an answer is added to that of its turn.
//
// # What Pi does with what others write
//
// Measured with 1.5.2, which was let resume files with these flaws:
//
//	a line that is cut or no JSON            skipped; what names it as parent is the first line
//	a type that Pi does not know             skipped, the chain holds through it
//	a call without a result                  "No result provided" is sent
//	an answer without usage or stopReason    Pi ends with an error
//	a first line that is no session          the file is refused
//
// # Not verified
//
// Files of versions 1 and 2, whose lines have no ids or other names, and those of extensions.
package pi
