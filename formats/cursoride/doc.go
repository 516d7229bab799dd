// Package cursoride knows the stores of the Cursor IDE.
//
// # Where they live
//
//	macOS    ~/Library/Application Support/Cursor/User
//	Linux    ~/.config/Cursor/User
//	Windows  %APPDATA%\Cursor\User
//
//	<user dir>/globalStorage/state.vscdb            all bodies since 2025
//	<user dir>/workspaceStorage/<id>/state.vscdb    one a workspace
//	<user dir>/workspaceStorage/<id>/workspace.json which folder it is
//	<user dir>/workspaceStorage/<id>/images/…       pictures in prompts
//
// A user dir is one store, and so is one state.vscdb alone. Of a workspace's
// folder alone the sessions are those of that workspace; their bodies are read
// from the global database beside it.
//
// # What is in state.vscdb
//
//	ItemTable(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)
//	cursorDiskKV, the same; composerHeaders in newer versions
//
// The class of a value is part of its meaning: agentKv:blob: rows are hex as
// TEXT and raw bytes as BLOB. Values can be NULL (a deleted composer), keys can
// be NULL.
//
// # How it is split
//
// A row of cursorDiskKV goes to the shard of the composer that owns it: the
// second part of its key, the third for agentKv:checkpoint: and
// agentKv:bubbleCheckpoint:. Blobs shared by all composers (agentKv:blob:,
// composer.content.) go by the first two digits of their hash, everything else
// by the first letter of its key.
//
// # Its sessions
//
// There are five generations of the list of sessions. None is complete, and
// none was filled up from the others: what is decoded is the union.
//
//	fact                                        case           where it is read
//	chat tabs, list and bodies in one row       tabs           tab.go, index.go
//	tabs with messages in the place of bubbles  tab-messages   tab.go
//	heads that hold the conversation, tools in
//	  capabilities 15, JSON in a string         inline         chat.go
//	heads of a workspace, bodies in the global
//	  database; conversationMap; the row wins   heads          index.go, chat.go
//	heads of all workspaces as one row; a key
//	  that no list names                        global-json    index.go
//	the table composerHeaders; subagents, task-
//	  ids, drafts, archived, best of N          table          index.go, composer.go
//	pane keys; cloud agents by name             panes          index_list.go
//	the members of the agents' sidebar; which
//	  list counts where they disagree about
//	  the folder; a folder only bubbles name    sidebar        index_list.go, composer_work.go
//	workspace.json: percent-encoding, remotes,
//	  several folders, none; worktrees          remotes        folder.go, composer.go
//	NULL values, JSON null, BLOB values, NULL
//	  keys, orphans, bubbles that are missing or
//	  listed twice, two heads with one id       storage        shelf.go, scan.go
//	rows whose key has another id than the
//	  bubble in them; bubbles without an id     odd-keys       locate.go
//	bubbles: text, rich text, thinking in all
//	  spellings, images, attachments, simulated
//	  prompts, summaries, errors, both clocks   bubbles        bubble.go, attach.go
//	tools: number before name, truncated and
//	  object arguments, degenerate rows, content
//	  ids, the lists of 2025                    tools          tool.go
//	originalFileStates, ofsContent, checkpointId,
//	  codeBlockDiff, fates                      files          checkpoint.go, files.go
//	latestConversationSummary                   compacted      chat.go, desk.go
//	conversationState, agentKv; what bubbles
//	  lack                                      state          state.go, supply.go
//	subagents that only such a state knows      subagents      kids.go
//	aiService.prompts, aiService.generations    prompts        typed.go
//	bubbles that no list names                  history        branch.go
//	duplicate members, broken UTF-8, halves of
//	  surrogate pairs, secrets                  broken-text    shelf.go, fields.go
//
// A case is testdata/ide/cases/<case>.sql, and what is made of it
// golden/cursor-ide-to-canonical/<case>.jsonl; of history, with its branches,
// history-with.jsonl.
//
// A session's bubbles stay in the order of its list. Several are one message
// where they are of one response of the model: reasoning, text, calls that were
// made at once. Bubbles that no list names were asked anew: they are counted as
// superseded, or, where abandoned turns are wanted, are branches. Nothing ties
// them to the rest but their times: those between two bubbles that are listed
// are one branch, which grew from the message in front of it; those that state
// no time are one in the order of their keys. Where the list itself is gone, all
// bubbles are put in the order of their times. All that is noted as inferred.
//
// The agent's own state is looked into only where bubbles lack something; parts
// from it say so (From "state"). Where there is no bubble at all it is the
// conversation. The subagents in it that are no sessions of the store are
// sessions behind their parent; lists, which do not look into states, do not
// have them.
//
// A sent prompt begins a turn, and a simulated one does. A turn's usage and
// error stand on its first message although they come at its end: a turn is
// read whole before it is given away, a very large one twice.
//
// Files come behind the messages: of each edit whose content is kept by hash,
// before and after; what files held before the session; checkpoints and edits
// that are kept as changes of that, spelled out up to 16 MB and eight bytes for
// each that was read, then as changes.
//
// aiService.prompts and aiService.generations list what was typed, and name no
// session. A prompt that a session says (its text, or the id of its request) is
// there already. One whose time lies in that of a single session of the
// workspace, and that session has lost its messages, is that session's: noted as
// inferred, its parts From "prompts". The rest is a session of its own for each
// database, ID <workspace>-prompts, status prompts. Heads reads no bubbles and
// lists it where a workspace has no session, or one that has lost its messages;
// it can be asked for by its name in any case.
//
// # Its books
//
// A user dir is mostly not sessions. Counted are the rows that list sessions
// (composerHeaders, and of ItemTable composer.composerData,
// composer.composerHeaders, the chat tabs, panes, cloud agents, the members of
// the sidebar and the prompt histories) and those that belong to one: composerData:, bubbleId:, checkpointId:,
// messageRequestContext:, codeBlockDiff:, codeBlockPartialInlineDiffFates:,
// ofsContent:, agentKv:checkpoint: and agentKv:bubbleCheckpoint:. Of the shared
// agentKv:blob: and composer.content. rows those count that a session refers to
// and that were read. Rows of sessions that are deleted or that nothing names
// are superseded. Members are counted one level deep.
//
// Not carried of what is understood: grouping and contentHeightHint of a list's
// bubbles, which are a cache of these; what a window shows or has selected; and
// empty members that every bubble has.
//
// # Parts
//
// Of a store the rows of some sessions can be read alone: their own, those of
// the sessions they started, the blobs and contents that any of this names, the
// workspaces they belong to and the pictures in their prompts. They are found by
// their keys and by what they refer to; no other row is read. Of a row of
// ItemTable that lists sessions a part has the heads of its own, byte for byte,
// and the rest of the row without those of others, which is noted as reshaped. A
// list of cloud agents, and one of tabs in which a wanted one is known by its
// place alone, stay whole, and that is said.
//
// Out of a user dir of 3.4 GB in 1,791 sessions, on two processors: one session
// to an archive 0.25 s and 42 MB of memory, to canonical 0.17 s and 41 MB, the
// list of all 0.13 s, all of them to canonical 64 s of CPU and 86 MB.
//
// # Left out
//
// state.vscdb.backup and .corrupted.* copies, conversation-search.db (derived),
// settings, snippets, extensions and local history. A picture that is a link
// out of the store, or is a database, is left aside and noted.
//
// # Not verified
//
// Portable installations and --user-data-dir trees beyond their having the same
// two folders. How bytes of images are spelled in each version. toolCallBinary,
// which is kept as it is. Where a task's bubble names its subagent. The shape of
// glass.localAgentProjectMembership.v1, of which the names of members are taken
// for sessions; which folder its projects are of is not drawn from it.
package cursoride
