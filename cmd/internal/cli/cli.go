package cli

import (
	"github.com/alecthomas/kong"

	"rehome/cmd/internal/console"
)

// grammar is the whole command line. Each command is declared and implemented in
// the file named after it. Help lists the commands by group; those without one
// are listed by `rehome help all`.
type grammar struct {
	HelpAll helpAllFlag `help:"Show help with all flags and examples"`
	console.OutputFlags

	Ls     lsCmd     `cmd:"" group:"See what is there:" aliases:"list" help:"List the sessions on this machine, from every client"`
	Show   showCmd   `cmd:"" group:"See what is there:" aliases:"view,cat" help:"Print a session as a readable transcript"`
	Diff   diffCmd   `cmd:"" group:"See what is there:" help:"Show how two stores, sessions or git commits differ"`
	Search searchCmd `cmd:"" group:"See what is there:" help:"Find sessions by words in them, from every client"`

	Continue continueCmd `cmd:"" group:"Continue:" aliases:"resume" help:"Choose a session, and continue it in its client or in another one"`
	Migrate  migrateCmd  `cmd:"" group:"Continue:" help:"Migrate sessions to another client, so you can continue them there"`
	Mv       mvCmd       `cmd:"" group:"Continue:" help:"Keep the sessions of a project folder that you moved"`
	Undo     undoCmd     `cmd:"" group:"Continue:" help:"Undo a migration or a move"`

	Convert convertCmd `cmd:"" group:"Keep:" help:"Convert session stores between formats"`
	Redact  redactCmd  `cmd:"" group:"Keep:" help:"Copy stores without secrets, names and other words"`
	Merge   mergeCmd   `cmd:"" group:"Keep:" help:"Merge the sessions of several people or machines"`
	Watch   watchCmd   `cmd:"" group:"Keep:" help:"Keep text up to date while clients write"`
	Backup  backupCmd  `cmd:"" group:"Keep:" help:"Back up the sessions of all known clients on this machine"`
	Restore restoreCmd `cmd:"" group:"Keep:" help:"Restore sessions from a backup"`

	Check  checkCmd  `cmd:"" group:"Check:" help:"Verify stores and report problems"`
	Repair repairCmd `cmd:"" group:"Check:" help:"Write a repaired copy of stores"`
	Doctor doctorCmd `cmd:"" group:"Check:" help:"Report client versions, and data unknown to rehome"`
	Detect detectCmd `cmd:"" hidden:"" help:"Identify the format of files and folders"`

	Demo    demoCmd    `cmd:"" help:"Demonstrate rehome on a sample chat, in four steps"`
	Git     gitCmd     `cmd:"" help:"Make git show sessions as text, and check them before a commit"`
	Formats formatsCmd `cmd:"" help:"List the supported formats"`
	Schema  schemaCmd  `cmd:"" help:"List or print the published JSON schemas"`
	Version versionCmd `cmd:"" help:"Print version information"`

	Completion completionCmd `cmd:"" help:"Generate a shell completion script"`
	Man        manCmd        `cmd:"" help:"Print the manual page"`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"Print candidates for the completion scripts"`

	kong.Plugins // the commands that a Program adds
}

const about = `Move coding-agent sessions between clients, and to git-friendly text and back.`
