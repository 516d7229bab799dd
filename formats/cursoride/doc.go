// Package cursoride reads and writes the stores of the Cursor IDE.
//
// # Where they live
//
//	macOS    ~/Library/Application Support/Cursor/User
//	Linux    ~/.config/Cursor/User
//	Windows  %APPDATA%\Cursor\User
//
//	<user dir>/globalStorage/state.vscdb            all conversations since 2025
//	<user dir>/workspaceStorage/<id>/state.vscdb    one per workspace
//	<user dir>/workspaceStorage/<id>/workspace.json which folder it belongs to
//	<user dir>/workspaceStorage/<id>/images/…       images in prompts
//
// A user dir is one store, and so is a single state.vscdb. A workspace's folder
// that is read alone has the sessions of that workspace; their bubbles are read
// from the global database of its user dir.
//
// # Tables and keys
//
//	ItemTable(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)
//	cursorDiskKV, the same; composerHeaders in newer versions
//
// The client finds rows by key only. It replaces a row to change it, which gives it
// a new row id, so text has no row ids of these tables.
//
// The storage class of a value is significant: agentKv:blob: rows are hex as
// TEXT, and raw bytes as BLOB. Values can be NULL (a deleted composer), and so
// can keys.
//
// # How it is split
//
// A row of cursorDiskKV goes to the shard of the composer that owns it: the
// second part of its key, or the third for agentKv:checkpoint: and
// agentKv:bubbleCheckpoint:. Blobs that composers share (agentKv:blob:,
// composer.content.) are split by the first two digits of their hash, all other
// rows into 256 shards by a hash of the key. A row of composerHeaders goes to the
// shard of its composer, and each row of ItemTable is a shard of its own.
//
// Rows of ItemTable that list composers, what is selected, or prompts are split
// into their entries.
//
// # Sessions
//
// There are five generations of the list of sessions. None is complete, and
// clients never updated one from the others, so the union of all is decoded.
//
//	fact                                        case           source file, below internal
//	chat tabs, list and bodies in one row       tabs           read/tab.go, lists/index.go
//	tabs with messages instead of bubbles       tab-messages   read/tab.go
//	heads that contain the conversation, tools
//	  in capability 15, JSON in a string        inline         read/chat.go
//	heads of a workspace, bodies in the global
//	  database; conversationMap; the row wins   heads          lists/index.go, read/chat.go
//	heads of all workspaces in one row; a key
//	  that is in no list                        global-json    lists/index.go
//	the table composerHeaders; subagents, task-
//	  ids, drafts, archived, best of N          table          lists/index_table.go, read/composer.go
//	pane keys; cloud agents by name             panes          lists/lists.go, index_list.go
//	the members of the agents' sidebar; which
//	  list wins if they disagree about the
//	  folder; a folder only in bubbles          sidebar        lists/lists.go, read/composer_work.go
//	workspace.json: percent-encoding, remotes,
//	  several folders, none; worktrees          remotes        lists/folder.go, read/composer.go
//	NULL values, JSON null, BLOB values, NULL
//	  keys, orphans, bubbles that are missing or
//	  listed twice, two heads with one id       storage        lists/database.go, read/scan.go
//	rows whose key and bubble have different
//	  ids; bubbles without an id                odd-keys       read/locate.go
//	bubbles: text, rich text, thinking in all
//	  spellings, images, attachments, simulated
//	  prompts, summaries, errors, both clocks   bubbles        read/bubble.go, attach.go
//	tools: number before name, truncated and
//	  object arguments, degenerate rows, content
//	  ids, the lists of 2025                    tools          read/tool.go
//	originalFileStates, ofsContent, checkpointId,
//	  codeBlockDiff, fates                      files          read/checkpoint.go, files.go
//	latestConversationSummary                   compacted      read/chat.go, assembler.go
//	conversationState, agentKv; data missing
//	  from bubbles                              state          read/state.go, supply.go
//	subagents that are only in such a state     subagents      read/kids.go
//	aiService.prompts, aiService.generations    prompts        lists/prompts.go, read/typed_session.go
//	a subagent before the session that started
//	  it                                        child-first    read/feed.go
//	bubbles that are in no list                 history        read/branch.go
//	duplicate members, invalid UTF-8, unpaired
//	  surrogates, secrets                       broken-text    lists/database.go
//
// A case is testdata/ide/cases/<case>.sql. Its expected result is
// golden/cursor-ide-to-canonical/<case>.jsonl; for history, the result with
// branches is history-with.jsonl.
//
// The bubbles of a session keep the order of its list. The bubbles of one model
// response are one message: reasoning, text, and calls that were made at once.
// Bubbles that are in no list belong to prompts that were sent again. They are
// left out and noted or, if abandoned turns are requested, become branches.
// Only their times connect them to the rest: those between two listed bubbles are
// one branch, which starts at the message before it; those without a time are
// one branch in key order. If the list itself is missing, all bubbles are
// sorted by time. All of this is noted as inferred.
//
// The agent's own state is read only if something is missing from bubbles; parts
// from it are marked as such (From "state"). If there are no bubbles at all, it is
// the conversation. Its subagents that are not sessions of the store become
// sessions after their parent. Lists of sessions do not include them, because
// listing does not read states.
//
// A sent prompt begins a turn, and so does a simulated one. A turn's usage and
// error are attached to its first message, although they come at its end: a turn is
// read completely before it is yielded, and a very large one is read twice.
//
// Files follow the messages: the content before and after each edit whose
// content is stored by hash; what files contained before the session; and
// checkpoints and edits that are stored as changes of that content. These are
// applied up to 16 MB and up to eight bytes for each byte that was read; beyond
// that they remain changes.
//
// aiService.prompts and aiService.generations list the prompts that were typed,
// without naming a session. A prompt that a session already contains (its text, or
// the id of its request) is not repeated. A prompt whose time falls within a single
// session of the workspace, if that session has lost its messages, is assigned to
// that session; this is noted as inferred, and its parts have From "prompts". The
// rest is one session per database, with the ID <workspace>-prompts and the status
// prompts. Heads reads no bubbles, and lists this session if a workspace has no
// session, or one that has lost its messages; it can always be selected by its ID.
//
// # What is counted
//
// Most of a user dir is not sessions. Counted are the rows that list sessions
// (composerHeaders, and in ItemTable composer.composerData,
// composer.composerHeaders, the chat tabs, panes, cloud agents, the members of
// the sidebar and the prompt histories) and the rows that belong to a session:
// composerData:, bubbleId:, checkpointId:, messageRequestContext:, codeBlockDiff:,
// codeBlockPartialInlineDiffFates:, ofsContent:, agentKv:checkpoint: and
// agentKv:bubbleCheckpoint:. A shared agentKv:blob: or composer.content. row is
// counted if a session refers to it and it was read. Bubbles of a session that is in
// no list are a session. Other rows of such sessions, and rows of deleted ones, are
// superseded; deleted sessions of which bubbles are left are noted. Members are counted
// one level deep.
//
// Known data that is not carried: grouping and contentHeightHint in a list's
// bubbles, which cache data of the bubbles; what a window shows or has selected;
// and empty members that every bubble has.
//
// # Parts
//
// The rows of selected sessions can be read without the rest of the store: their
// own rows, those of the sessions they started, the blobs and contents that these
// refer to, the workspaces they belong to, and the images in their prompts. They
// are found by their keys and references; no other row is read. A row of ItemTable
// that lists sessions keeps the heads of the selected ones, byte for byte, and the
// rest of the row without the heads of others; this is noted as reshaped. A list of
// cloud agents is copied in full, and so is a list of tabs that identifies a
// selected one by its position alone; both are reported.
//
// From a user dir of 3.4 GB with 1,791 sessions, on two processors: one session
// to an archive takes 0.25 s and 42 MB of memory, to canonical 0.17 s and 41 MB;
// the list of all takes 0.13 s; all of them to canonical take 64 s of CPU time and
// 86 MB.
//
// # Writing
//
// Sessions of any client are written to a new user dir (package write), never into one
// that exists: a store of this client is large, and the client keeps rows of it in memory.
// Each session becomes a composer of version 17 with a row for each bubble, and the state
// from which the agent continues in conversationState and agentKv:blob: rows. Subagents
// are composers that name their parent. What a file contained before and after an edit is
// in composer.content. rows, if the source holds it.
//
// The composers are in the table composerHeaders and in the list
// composer.composerHeaders. Each folder has a workspace, in which the composer that changed
// last is selected, and a project in glass.localAgentProjects.v1, to which
// glass.localAgentProjectMembership.v1 assigns its composers: since 3.12 the client lists
// no others.
//
// The client makes the id of a workspace from the path of its folder and the folder's inode
// (Linux) or time of birth (macOS, Windows). If the folder is on this machine, the
// workspace gets that id, so the target differs from machine to machine in these ids. They
// do not hold after the folder is copied or restored, or for another machine.
//
// To open it, convert to the folder User of an empty folder on the machine that has the
// project folders, and start the client with that folder:
//
//	rehome convert SRC DIR/User --to cursor-ide
//	cursor --user-data-dir DIR
//
// The record of a composer has a member "rehome", which names the session that it was made
// from, the root of its state, and how many bubbles it has. As long as all this is so,
// Decode reads the state, which holds more than bubbles can. Once the client has added to
// the session, Decode reads bubbles: what the model was shown of context is not in them, a
// PDF file in a prompt is not, and a result has only the record that the client displays.
// The ids, status, errors and usage of turns are in the member "rehome", too.
//
// Written stores are not verified against the IDE: no version of it was at hand. Known
// risks:
//
//   - The id of a workspace whose folder is not on this machine, or whose path is spelled
//     differently, through a link for instance. The client then opens the folder as another
//     workspace, in which the composers are only listed among those of all workspaces.
//   - The client's service. It keeps a state of its own for a conversation; without it
//     the client can say that a chat is too old to continue, although it displays all of it.
//     Whether it then accepts the state in conversationState is not known.
//   - The form of the projects, which is known from other programs that write them.
//   - The tools of other clients are written with the number of the client's own tool
//     that does the same, and their results by the names that it uses. Other tools
//     are displayed as calls of an MCP server.
//
// Recent versions of the client import sessions of Claude Code by themselves. For those, try
// that first.
//
// On two processors, a session of Claude Code of 80 MB takes 6 s of CPU time and 108 MB of
// memory, and one of 20 MB a quarter of that time and 80 MB.
//
// # A folder that moved
//
// Package refile gives the sessions of a folder the workspace that the client has made for
// its new path, in the global database, in one transaction. Nothing else is changed, and
// the client must not run: code.lock beside the user dir has its process id, and it locks
// the -shm file of a database in WAL mode.
//
// # Left out
//
// state.vscdb.backup and .corrupted.* copies, conversation-search.db (derived),
// settings, snippets, extensions and local history. An image that is a link out of
// the store, or is a database, is left out and noted.
//
// # Not verified
//
// Portable installations and --user-data-dir trees, except that they have the
// same two folders. How each version encodes the bytes of images. toolCallBinary,
// which is kept as it is. Where a task's bubble names its subagent. The form of
// glass.localAgentProjectMembership.v1: its member names are taken to be sessions;
// the folder of a session is not derived from its project. That the client lists what
// refile has changed, and that code.lock is there as in VS Code.
//
// # Packages
//
// Below internal, each imports only those above it:
//
//	lexical   the text of rich text
//	lists     databases, families of rows, workspaces, all lists of sessions
//	read      sessions, decoded
//	audit     the rules of `rehome check`; it imports lists alone
//	write     sessions of any client, as a new user dir; it imports lists alone
//	part      what belongs to selected sessions
//	refile    sessions, filed under another folder; it imports lists and write
package cursoride
