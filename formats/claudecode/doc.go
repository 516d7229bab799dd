// Package claudecode reads and writes the sessions of Claude Code.
//
//	~/.claude/ ($CLAUDE_CONFIG_DIR)
//	    projects/<folder>/<id>.jsonl                       one session, a line an entry
//	    projects/<folder>/<id>/subagents/agent-<id>.jsonl  its subagents
//	    projects/<folder>/<id>/subagents/agent-<id>.meta.json  what started them
//	    projects/<folder>/<id>/tool-results/<id>.txt       output too long for a line
//	    file-history/<id>/<hash>@v<n>                      what files held
//
// The config folder is one store; so is a project's folder in it, and so is a
// file. A project's folder is named by the path of the working directory with
// every UTF-16 unit that is no letter or digit of ASCII as a dash, and a hash
// behind 200 of them.
//
// A file is known by its first lines: versions begin it with prompts, titles,
// queued prompts, snapshots or states, and exports leave out ids. See probe.go.
//
// # Reading
//
// Lines form a tree by uuid and parentUuid. The live branch is the way from the
// last prompt or answer of the main thread to the root. Two kinds of line beside
// it belong to it, too: calls of one of its responses, and results, which are
// found by the ids of their calls. A parent that is not there is taken to be the
// line before; of two lines with one uuid the later one counts: both as the client
// does. Other branches are asked for with Selection.History, and noted as left out
// otherwise.
//
// The lines of a response are one message, whatever stands between them, up to
// the next prompt: progress, notices and results do not end it.
//
// Lines without a uuid or a parentUuid, as exports and other tools write them, are
// taken in the order of the file. The client itself reads only the last of them.
//
// A slash command is a line of its tags, <command-name> and others, which are
// Injected parts; so is what it printed. It begins a turn only if the model
// answers it.
//
// Behind a compact_boundary the client sends the summary, the messages it
// preserved, and what follows. What lies in front is Archived here.
//
// Lines of a type that is not part of the conversation (requests, costs,
// snapshots) are Opaque parts of system messages where they stand. Snapshots
// name the backups of files that a session changed: from one state of a file to
// the next they are its Files. What a file held at the end nobody kept.
//
// # Writing
//
// A line for each block, in one chain, each one millisecond behind the last at
// least. The API refuses a session for good that has an empty text, an id or
// name with a character it does not know, an unanswered call or thinking without
// its signature, and the client forwards all of these: see check.go for the
// rules, which every file is held against before it is placed. It takes a result
// without text, but no error without one.
//
// A result is looked for until the next turn; what is said before it comes waits.
//
// Tools become Claude Code's own, with their arguments and with the record that
// the screen is drawn from. Where the client that is read from only says what an
// edit did when it is done, the lines of a response wait for its results.
//
// What a user's own command printed, the client tells on a line that begins with
// <bash-stdout>; it is drawn, and no prompt, in both directions here.
//
// Branches stand in the tree, in front of what the live one went on with, in the
// file and in time: the newer client goes on with the last line, the older one
// with the latest, the Agent SDK with a line that no other hangs on. One that
// grew from the last message begins with a copy of it, so that nothing hangs on
// that. See branch.go.
//
// What has no place in the conversation stands in a member of our own,
// "rehome", on the lines, or in the line of type "rehome" at the end, which also
// has a digest of all lines in front of it: so it can be told whether the client
// has added to a file since.
//
// # Not verified
//
// How Windows and macOS name folders. What the API says of an answer that has
// text behind a call.
package claudecode
