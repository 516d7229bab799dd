// Package opencode reads the sessions of OpenCode, and writes files that it imports.
//
//	$XDG_DATA_HOME, or ~/.local/share, on every system
//	    opencode/opencode.db    a SQLite database with a write-ahead log, see Format
//
//	    opencode/storage        what versions before 1.2 kept instead: files of JSON, see Storage
//	`opencode export ID`, `opencode import FILE`    one session as JSON, see Export
//
// Seen: what versions 1.18.33 and, for files, 1.1.65 write, run offline, and the source of the former.
//
// # Tables
//
//	session        one row a session; parent_id is set for a subagent, time_archived for one that is put away
//	message, part  what was said, as JSON in the column data. Messages are in the order of time_created and id,
//	               parts in that of their ids
//	todo           what is to be done
//	event          the log that the rows were made from; imported sessions have none
//	session_message, session_input    the next generation, empty
//	account, control_account, credential, session_share    with secrets, which are withheld
//
// An export is {"info": session, "messages": [{"info": message, "parts": [part]}]}.
//
// # Files
//
//	storage/session/<project>/<session>.json     what a row of session has, with the members of an export
//	storage/message/<session>/<message>.json     what the column data has, with its ids
//	storage/part/<message>/<part>.json
//	storage/todo/<session>.json                  a list of what is to be done
//	storage/session_diff/<session>.json          a list of the files that were changed, an extra
//	storage/project/<project>.json, storage/migration    not of a session, and not read
//
// Messages and parts are in the order of their ids. The first start of 1.2.27 without a database puts all into one, and
// leaves the files as they are: what a database beside them has is not listed a second time. Where that failed,
// or was done for a database of another channel, newer versions do not find the sessions any more. They import what
// `rehome migrate --to opencode` makes of them.
//
// # What is made of it
//
// One message and its parts are one record. A message of the user with a part of its own begins a
// turn; one that has only parts that OpenCode made ("synthetic") does not. A call and its result are one
// part, and become a call and a message with the result. Of compactions the last one that has a summary
// counts; with tail_start_id, it keeps the messages from there on. What the user took back (revert), and
// answers that failed after they began, are not sent: they are branches. A title that OpenCode gave before
// it knew a better one is an extra.
//
// # What OpenCode does with what others write
//
// Measured with 1.18.33, which was let import files with these flaws:
//
//	an object without a member of `required`, or with an id that begins otherwise   the import fails
//	a type or a role that it does not know                                          the import fails
//	members that it does not know                                                   they are ignored
//	a call that was not finished            "[Tool execution was interrupted]" is sent
//	thinking of another model               is sent as text
//
// The import sets the project and the folder to those in which it runs, and writes no events. A file
// that is imported again adds what is new. What the database has already it leaves as it is: a call that
// had no result when it was first imported stays without one.
//
// # Not verified
//
// The databases of other channels. The folders storage/session/info and project/…/storage/session of versions that
// were older still, which later ones moved to where they are read.
package opencode
