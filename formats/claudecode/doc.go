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
// # Reading
//
// Lines form a tree by uuid and parentUuid. The live branch is the way from the
// last prompt or answer of the main thread to the root; calls of one response
// that hang beside it, and their results, belong to it, too. A parent that is
// not there is taken to be the line in front; of two lines with one uuid the
// later one counts: both as the client does. Other branches are asked for with
// Selection.History, and counted as superseded otherwise.
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
// rules, which every file is held against before it is placed.
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
