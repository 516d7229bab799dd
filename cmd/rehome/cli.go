package main

// grammar is the whole command line. Each command is declared and implemented in
// the file named after it.
type grammar struct {
	JSON    bool   `name:"json" help:"Print JSON instead of text, including for errors"`
	Color   string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Use color: auto (default; honors NO_COLOR and FORCE_COLOR), always or never"`
	Quiet   bool   `short:"q" xor:"talk" help:"Print only errors and requested output, no reports or progress"`
	Verbose bool   `short:"v" xor:"talk" help:"Print more detail"`

	Convert  convertCmd  `cmd:"" help:"Convert session stores between formats"`
	Migrate  migrateCmd  `cmd:"" help:"Migrate sessions to another client, so you can continue them there"`
	Continue continueCmd `cmd:"" aliases:"resume" help:"Choose a session, and continue it in its client or in another one"`
	Watch    watchCmd    `cmd:"" help:"Keep text up to date while clients write"`
	Backup   backupCmd   `cmd:"" help:"Back up the sessions of every client on this machine"`
	Restore  restoreCmd  `cmd:"" help:"Restore sessions from a backup"`
	Ls       lsCmd       `cmd:"" help:"List the sessions on this machine, from every client"`
	Search   searchCmd   `cmd:"" help:"Find sessions by words in them, from every client"`
	Show     showCmd     `cmd:"" help:"Print a session as a readable transcript"`
	Check    checkCmd    `cmd:"" help:"Verify stores and report problems"`
	Detect   detectCmd   `cmd:"" help:"Identify the format of files and folders"`
	Formats  formatsCmd  `cmd:"" help:"List the supported formats"`
	Schema   schemaCmd   `cmd:"" help:"List or print the published JSON schemas"`
	Demo     demoCmd     `cmd:"" help:"Demonstrate rehome on a sample chat, in four steps"`
	Version  versionCmd  `cmd:"" help:"Print version information"`

	Completion completionCmd `cmd:"" help:"Generate a shell completion script"`
	Man        manCmd        `cmd:"" help:"Print the manual page"`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"Print candidates for the completion scripts"`
}

const about = `Move coding-agent sessions between clients, and to git-friendly text and back.`
