// Package codex reads the sessions of OpenAI's Codex CLI:
//
//	$CODEX_HOME, or ~/.codex
//	    sessions/2026/11/22/rollout-<local time>-<id>.jsonl
//	    archived_sessions/rollout-<local time>-<id>.jsonl
//
// CODEX_HOME is one store; so is each of these folders and each rollout. A
// rollout is one session, a JSON object a line. Old ones may be compressed
// (.jsonl.zst). Clients keep databases next to them (threads, history, logs),
// which repeat what the rollouts state, except for names and pins that people
// give to sessions; they are not read. Codex makes them again from the rollouts.
//
// Seen: what versions 0.20.0 (August 2025), 0.34.0, 0.77.0, 0.120.0 and 0.169.0
// (November 2026) write.
//
// # Lines
//
//	{"timestamp":…,"ordinal":7,"type":…,"payload":{…}}
//
//	session_meta        the first line: id, cwd, version, git, system prompt
//	turn_context        model, mode and permissions of a turn
//	response_item       an item of the conversation, as the model is sent it
//	event_msg           what the client showed; most of it repeats an item
//	compacted           a summary takes the place of what came before
//	token_usage_record  tokens of a response, a turn and the session
//	world_state         what the context messages say, as data
//
// 0.20.0 wrote the items without anything around them, and no times. 0.120.0
// and earlier wrote no ordinal.
//
// # What is made of it
//
// The items are the session. Consecutive items of the model are one message. A
// turn begins with the first prompt after task_started, or with any prompt where
// there are no such lines; task_complete and turn_aborted say how it ended.
// Tokens are the client's count, in which input includes what was read from the
// cache. What the client put into the user's messages is context: newer versions
// state it, older ones are told by how a text begins.
//
// Events that repeat an item of the same turn are counted as superseded: the text is
// compared, and each item is repeated once. Others, of turns that were interrupted, are
// never sent again: they become branches. What an event says of a call, such as the exit code
// of a command, becomes the value of the result if it comes before that; otherwise it is kept
// as it is. The item is what the model is sent: a result is its text, and one of which the event
// says something else is reported. The last_agent_message of a task_complete, the text of a world_state and the system
// prompt of a fork are compared, too. Where there is none, the outcome is read from what the client puts in front of a
// command's output.
//
// Encrypted reasoning is kept as an extra, and noted. After a compacted, the
// model sees the summary and the user's earlier prompts again: both become the
// summary. Turns that the user took back (thread_rolled_back) are left out or, if
// history is requested, branches.
//
// Since 2026 a fork is a file of its own that names the session it was forked
// from, and how many bytes of that file come before it (history_base). Both files
// are read. What was written to the original later is not part of the fork.
//
// # What Codex does with what others write
//
// Measured with 0.169.0, in its terminal and with codex exec. The model is always sent what the
// rollout has; the screen shows that, too, if lines have no ordinal (history_mode legacy).
// Otherwise it shows what the client keeps of the rollout in thread_history_1.sqlite, up to
// next_rollout_byte_offset:
//
//	lines are appended            those after that place are taken: turns from task_started to
//	                              task_complete with their item_completed; no older events
//	bytes before it are changed   the screen shows what was there, until the rows of the
//	                              session are deleted, and Codex makes them again
//	the rollout is gone           "no rollout found"
//	cwd is another one, in the    found in that folder (resume --last), and the model is told of
//	head and each turn_context    it, if the world_state still says what it was told before
//	a turn_context names a model  the terminal continues with it, and codex exec does not
//
// So what is appended to lines with an ordinal has turns and items, it is not taken away again
// once it is in that database (see formats.Writer.Taken), and no turn_context is
// written: the service of another client's model is another one.
//
// # Not verified
//
// Subagents, reviews, turns that were taken back, and summaries by the provider:
// what is known of them comes from the open source of the client. No version was
// seen to compress a rollout. Codex for editors and the desktop, which is said to
// write the same files, was not run.
package codex
