// Package copilot reads and writes the sessions of GitHub Copilot CLI:
//
//	$COPILOT_HOME, or ~/.copilot
//	    session-state/<id>/events.jsonl      the session
//	                       workspace.yaml    its title and folder
//	    session-state/<id>.jsonl             the session, as 0.0.366 wrote it, which kept no folder
//	    history-session-state/session_<id>_<ms>.json    what versions before events wrote, see History
//
// A file is one session, an event a line: type, data, id, timestamp, parentId. The client reads
// the events in the order of the file, whatever their parents are. session-store.db is an index
// that the client makes by itself, and is not read. Newer versions can write events of subagents
// among the others; they have an agentId or, in older versions, only the call that started them.
//
// Seen: what versions 1.0.102, 1.0.12 and, with -p, 0.0.366 write. The schema of events is in the package of 1.0.12.
//
// # Events
//
//	session.start                the head: id, startTime, context.cwd
//	user.message                 content is what was typed, transformedContent what the model is sent
//	system.message               the system prompt
//	assistant.message            content, reasoningText, toolRequests
//	tool.execution_complete      the result: result.content, or error.message
//	session.binary_asset         the bytes of an image that a prompt or a result names
//	session.compaction_complete  a summary stands for what comes before session.compaction_start
//	session.usage_record         tokens of a request
//	system.notification          what the client tells the model
//	others                       settings of their turn, or carried as they are
//
// # Files of versions before events
//
// They are one JSON object each: sessionId, startTime, chatMessages (what was sent, as a service of chat completions takes
// it, without times), timeline (what the screen showed, with times) and selectedModel. This is the schema in the packages
// of 0.0.340, which writes them, and of 0.0.343 to 0.0.366, which take them in as the event session.import_legacy of
// a file of events. The messages are told, and timeline is an extra. 0.0.340 was not run: it does not install any more,
// and asks for a login. The sample follows the schema; 0.0.366 resumed it, and sent all its messages. In the events that
// it wrote then, the import was missing: the older file is read even if there are events of its session.
//
// # What is made of it
//
// A message of the user begins a turn, unless it has a source: then the client speaks. What is
// around the typed words in transformedContent is context. Subagents are sessions of their own,
// which the calls name that started them.
//
// # What the client does with what others write
//
// Measured by letting both versions resume a session with these flaws:
//
//	                                            1.0.12     1.0.102
//	zero bytes at the end, or a line of them    refused    read
//	U+2028 or U+2029 in a line                  refused    read
//	a last line that is cut, a bad line         refused    the line is skipped
//	an event of a type that it does not know    refused    read
//	an id that is no UUID, no messageId         refused    refused, too
//	a first line that is not session.start      refused    refused, too
//	a parent that is missing, an event twice    read       read, too
//
// While a session is open, inuse.<process>.lock is beside its events. It is resumed in any
// folder; --continue takes the one that was written last.
//
// When a session is resumed, thoughts and images of results are not sent, results of calls at
// the same time come in the order of the calls, and what one side says in a row is one message.
//
// # Not verified
//
// Commands that the user ran, skills, hooks, handoffs, subagents of subagents, and the members of the event
// session.import_legacy, which are carried and not told.
package copilot
