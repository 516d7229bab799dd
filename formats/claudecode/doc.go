// Package claudecode reads and writes the sessions of Claude Code.
//
// # Where they live
//
//	~/.claude/ ($CLAUDE_CONFIG_DIR)
//	    projects/<folder>/<id>.jsonl                       one session, one line per entry
//	    projects/<folder>/<id>/subagents/agent-<id>.jsonl  its subagents
//	    projects/<folder>/<id>/subagents/agent-<id>.meta.json  what started them
//	    projects/<folder>/<id>/tool-results/<id>.txt       output too long for a line
//	    file-history/<id>/<hash>@v<n>                      contents of changed files
//
// The config folder is one store; so is a project's folder in it, and so is a
// file. A project's folder is named after the path of the working directory, with
// a dash for every UTF-16 unit that is not an ASCII letter or digit. A name longer
// than 200 is cut there, and a dash and a hash are appended.
//
// A file is recognized by its first lines. Versions differ in what they write
// first (prompts, titles, queued prompts, snapshots or states), and exports omit
// ids. See internal/outline/recognize.go.
//
// # Reading
//
// Lines form a tree by uuid and parentUuid. The live branch is the path from the
// last prompt or answer of the main thread to the root. It also includes two kinds
// of line beside that path: parallel calls of one of its responses, and tool
// results, which are found by the ids of their calls. A missing parent is taken
// to be the previous line, and of two lines with the same uuid the later one is
// used; the client does the same. Other branches are read with
// Selection.History, and otherwise noted as left out.
//
// All lines of a response are one message, up to the next prompt; progress,
// notices and results between them do not end it.
//
// Lines without a uuid or a parentUuid, as exports and other tools write them,
// are read in file order. The client itself reads only the last of them.
//
// A slash command is a line of tags, <command-name> and others, which become
// Injected parts; so does its output. It begins a turn only if the model answers
// it. A prompt that is spelled like one is a prompt if its promptSource is typed or
// sdk, which no line of a command has.
//
// The content of a tool_result is what the client sends, and toolUseResult what it shows. One
// of which the other says something else is reported.
//
// After a compact_boundary the client sends the summary, the messages that it
// preserved, and what follows. Everything before the boundary is Archived here.
//
// Lines that are not part of the conversation (requests, costs, snapshots) become
// Opaque parts of system messages in their place. So do attachments that the client
// does not send when it resumes a session, and those of kinds that are not known:
// internal/outline/attachments.txt lists what is sent. Snapshots name the backups of
// files that a session changed; each change from one backup to the next is one of
// the session's Files. The final content of a file is not stored.
//
// # Writing
//
// Each block is a line of its own. The lines form one chain, with timestamps at
// least one millisecond apart. The API permanently rejects a session that has an
// empty text, an id or name with a character that it does not allow, a call
// without a result, or thinking without its signature, and the client forwards
// all of these. internal/write/verify.go implements these rules, and every file
// is checked before it is placed. The API accepts a result without text, but not
// an error without text.
//
// The result of a call may follow until the next turn; content that precedes it
// is held back.
//
// Tools become Claude Code's own tools, with their arguments and the record that
// the client's screen is drawn from. If the source client describes an edit only
// when it is done, the lines of a response wait for the results.
//
// The client stores the output of a command that the user ran on a line that
// starts with <bash-stdout>. It is displayed but is not a prompt, in both
// directions.
//
// Abandoned branches are part of the tree. In the file and in time they come
// before the live branch's continuation, because newer clients continue from the
// last line, older ones from the line with the latest timestamp, and the Agent
// SDK from a line without children. A branch that starts at the last message
// begins with a copy of that message, so that the original has no children. See
// internal/write/branch.go.
//
// What does not fit into the conversation is stored in a member "rehome" on the
// lines, or in a line of type "rehome" at the end. That line also holds a digest
// of all lines before it, which shows whether the client has added to the file
// since.
//
// # Packages
//
// internal/shape declares the kinds of lines, their members and the types of blocks.
// internal/outline knows the files, and finds the live branch of their lines. The others
// import these, and not each other. This package has what is left: Format, Probe and the
// exact conversion.
//
// # Not verified
//
// How Windows and macOS name project folders. How the API treats an answer that
// has text after a call.
package claudecode
