package main

import "rehome/formats/loss"

// grammar is the whole command line. What each command does is in the file
// named after it.
type grammar struct {
	JSON    bool   `name:"json" help:"Print one JSON object instead of text, also for errors"`
	Color   string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"When to use color: auto (on a terminal), always or never. FORCE_COLOR and NO_COLOR are honored"`
	Quiet   bool   `short:"q" xor:"talk" help:"Print no reports, remarks or progress, only errors and what was asked for"`
	Verbose bool   `short:"v" xor:"talk" help:"Print more detail, where a command has more"`

	Convert convertCmd `cmd:"" help:"Convert session stores between formats"`
	Migrate migrateCmd `cmd:"" help:"Migrate sessions to another client, so you can continue them there"`
	Ls      lsCmd      `cmd:"" help:"List the sessions on this machine, from every client"`
	Show    showCmd    `cmd:"" help:"Print a session as a readable transcript"`
	Check   checkCmd   `cmd:"" help:"Verify stores and report problems"`
	Detect  detectCmd  `cmd:"" help:"Identify the format of files and folders"`
	Formats formatsCmd `cmd:"" help:"List the supported formats"`
	Schema  schemaCmd  `cmd:"" help:"List or print the published JSON schemas"`
	Demo    demoCmd    `cmd:"" help:"Show what rehome does, in four steps on a sample chat"`
	Version versionCmd `cmd:"" help:"Print version information"`

	Completion completionCmd `cmd:"" help:"Generate a shell completion script"`
	Man        manCmd        `cmd:"" help:"Print the manual page"`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"Print what the completion scripts ask for"`
}

const about = `Move the sessions of coding agents between clients, and to text for git and back.`

type convertCmd struct {
	Src string `arg:"" optional:"" help:"A store, a folder of stores, STORE#ID for one session of a store, or a session of this machine: an id, the first characters of one, or words of a title. Use - to read from stdin. SRC is never changed."`
	Dst string `arg:"" optional:"" help:"Where to write the result. Must not exist, unless you pass --replace. Optional with --cwd."`

	From string `group:"Formats:" placeholder:"FORMAT" help:"Format of SRC (detected by default)"`
	To   string `group:"Formats:" placeholder:"FORMAT" help:"Format to write. Text converts back to what it was made from by default"`

	Last    bool     `group:"Which sessions:" help:"Use the newest session of the current directory as SRC"`
	Session []string `group:"Which sessions:" sep:"none" placeholder:"ID" help:"Only the session with this id; repeatable"`
	Project string   `group:"Which sessions:" aliases:"workspace" placeholder:"DIR" help:"Only sessions of this folder and the folders in it"`
	Since   string   `group:"Which sessions:" placeholder:"WHEN" help:"Only sessions changed since then: 2026-11-01, yesterday, \"3 days\", 12h"`
	History bool     `group:"Which sessions:" aliases:"branches" help:"Also include abandoned turns, as branches"`

	DryRun      bool    `group:"Output:" help:"Do everything except placing the result, and report what would happen"`
	Replace     bool    `group:"Output:" help:"Replace DST if it exists, and keep the old one as DST.bak-1 (-2, ...)"`
	Cwd         *string `group:"Output:" placeholder:"DIR" help:"Assign the sessions to this folder. Without DST, write them where their client looks for sessions of that folder"`
	Home        *string `group:"Output:" placeholder:"DIR" help:"Home folder to place them in with --cwd (yours by default)"`
	Compress    string  `group:"Output:" enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Write text as one compressed stream: none (default), gzip or zstd"`
	WithSecrets bool    `group:"Output:" help:"Include keys and tokens in text output (left out by default)"`

	Allow   loss.Kind `group:"Losses:" xor:"line" placeholder:"KIND" help:"Accept losses up to this kind: reshaped, inferred, missing, dropped (default) or unreadable"`
	Strict  bool      `group:"Losses:" xor:"line" help:"Same as --allow reshaped"`
	Sidecar string    `group:"Losses:" aliases:"residue" default:"beside" placeholder:"WHERE" help:"Where to keep what DST has no room for: beside (DST.sidecar.ndjson, default), none, or a path"`

	Live bool `group:"Advanced:" help:"Read a store in use in place, through its existing -wal and -shm files"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU). Does not change the result"`
}

func (convertCmd) Help() string {
	return `Formats that store the same kind of records convert exactly: every record is copied and compared. All other pairs
convert session by session through a common model, and losses are reported. "rehome formats" lists which is which.

The result is written to the side, read back and compared before it gets its name: DST is complete or absent. In
a folder of stores, one bad store does not stop the others.

--to canonical writes one JSON line per message: one file per session, DST/<client>/<id>.jsonl, or a single file if
DST ends in .jsonl.

Clients find sessions by the folder a program runs in. DIR of --cwd is used as you write it, as clients do: /work
and /work/ are different folders. A relative DIR starts at the working directory.

Examples:

    # a chat as text for git, and back
    rehome convert store.db chat --to archive
    rehome convert chat store.db

    # agents of the Cursor SDK as text for git, and back in a checkout
    rehome convert ~/.cursor/projects/home-ann-app agents --to cursor-ndjson
    rehome convert agents --cwd .

    # all chats of this machine, one archive each
    rehome convert ~/.cursor/chats chats --to archive

    # the conversations of all chats, one file per session
    rehome convert ~/.cursor/chats sessions --to canonical

    # what would happen, as JSON
    rehome convert state.vscdb ide --to archive --dry-run --json

    # a backup: one compressed file per database, keys and tokens included
    rehome convert store.db backup --to archive --compress zstd --with-secrets`
}

type migrateCmd struct {
	Src string `arg:"" optional:"" help:"A session: a file or store, PATH#ID, the first characters of an id, or words of a title, as rehome ls prints them. A store of several sessions means all of them. Use - to read from stdin. SRC is never changed."`

	Last    bool    `group:"Which sessions:" help:"Use the newest session of the current directory as SRC"`
	All     bool    `group:"Which sessions:" help:"All sessions of --project, from every client"`
	Project *string `group:"Which sessions:" placeholder:"DIR" help:"With --all: sessions of this folder and the folders in it"`
	From    string  `group:"Which sessions:" placeholder:"FORMAT" help:"Format of SRC (detected by default)"`

	Compacted  bool   `group:"What to include:" aliases:"full-history" help:"Send compacted turns too, not only their summary"`
	History    bool   `group:"What to include:" aliases:"branches" help:"Also include abandoned turns, as branches that are not sent"`
	NoThinking bool   `group:"What to include:" help:"Leave out the model's reasoning. By default, reasoning that another model cannot use is kept as text"`
	Thinking   string `enum:"keep-as-text,drop" default:"keep-as-text" hidden:""`

	To        string  `group:"Where to:" enum:"claude-code" default:"claude-code" placeholder:"CLIENT" help:"Client to continue in: claude-code (default)"`
	Cwd       *string `group:"Where to:" placeholder:"DIR" help:"Folder to continue in (default: the one the session belongs to)"`
	Home      *string `group:"Where to:" placeholder:"DIR" help:"Home folder of the clients (yours by default). Ignores the environment"`
	ClaudeDir *string `group:"Where to:" placeholder:"DIR" help:"Config folder of Claude Code (default: $CLAUDE_CONFIG_DIR, or .claude in the home folder)"`
	Update    bool    `group:"Where to:" xor:"again" help:"Overwrite an earlier migration of a session that has grown, unless you have continued it in Claude Code"`
	Again     bool    `group:"Where to:" xor:"again" help:"Write another copy, beside the earlier one"`
	DryRun    bool    `group:"Where to:" help:"Write nothing, and report what would happen"`

	Live bool `group:"Advanced:" help:"Read a store in use in place, through its existing -wal and -shm files"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (migrateCmd) Help() string {
	return `Writes the session where the client looks for sessions of its folder, and prints the command that continues it.
Prompts, answers, tool calls and results are sent to the model as if the session had been the client's own. Tools
become the client's own tools where it has them. Losses are reported.

Nothing is overwritten. The same session always gets the same id, so a second run has nothing to do. If the session
has grown since, --update writes it again.

Examples:

    rehome migrate --last
    rehome migrate 5d0b2b7e
    rehome migrate ~/backup/.cursor/projects/home-ann-app#login --cwd ~/app
    rehome migrate --project . --all --dry-run`
}

type lsCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Files or folders to search (default: where the clients keep their sessions)"`

	Project string `group:"Which sessions:" placeholder:"DIR" help:"Only sessions of this folder and the folders in it"`
	Client  string `group:"Which sessions:" aliases:"agent" placeholder:"NAME" help:"Only sessions of this client: cursor-cli, cursor-sdk, cursor-ide, ...; cursor means all of these"`
	Since   string `group:"Which sessions:" placeholder:"WHEN" help:"Only sessions changed since then: 2026-11-01, yesterday, \"3 days\", 12h"`
	Limit   *int   `group:"Which sessions:" placeholder:"N" help:"Only the newest N sessions"`
	All     bool   `group:"Which sessions:" help:"Include empty sessions, and files that are not stores"`

	Long bool `group:"Advanced:" help:"Read sessions to find out what their stores do not list, and print the stores of each"`
	Live bool `group:"Advanced:" help:"Read a store in use in place, through its existing -wal and -shm files"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (lsCmd) Help() string {
	return `Reads names, times and counts, not conversations. "–" means unknown; --long (or -v) reads the session to find out.
"~" marks the time of a file, where the store has none. "+1" marks a session that a second store holds too. Subagents
are listed below their parents, and stores that cannot be read at the end.

Examples:

    rehome ls
    rehome ls --project . --since 3d
    rehome ls ~/backup/.cursor --long
    rehome ls --client cursor-sdk --json`
}

type showCmd struct {
	Src string `arg:"" optional:"" help:"A session: a file or store, PATH#ID, the first characters of an id, or words of a title, as rehome ls prints them. Use - to read from stdin."`

	Last  bool   `group:"Which session:" help:"Use the newest session of the current directory as SRC"`
	Turns string `group:"Which session:" placeholder:"RANGE" help:"Only these turns: 3, 2-5, 7-, or =-3 for the last three"`

	Tools    string `group:"What to include:" enum:"brief,full,none" default:"brief" placeholder:"HOW" help:"Tool calls and results: brief (default), full or none"`
	Thinking bool   `group:"What to include:" help:"Also include the model's reasoning"`
	History  bool   `group:"What to include:" aliases:"branches" help:"Also include abandoned turns, as branches"`

	Format  string `group:"Output:" enum:"text,markdown,json" default:"text" placeholder:"FORM" help:"text (default), markdown, or json (canonical lines)"`
	NoPager bool   `group:"Output:" help:"Do not use a pager"`

	Live bool `group:"Advanced:" help:"Read a store in use in place, through its existing -wal and -shm files"`
}

func (showCmd) Help() string {
	return `On a terminal, long output goes through $PAGER, or less. Control characters in the session are escaped. A stream
from stdin is printed as it arrives. Times are local in text, and UTC in Markdown. What could not be read is
reported on stderr (all of it with -v).

Examples:

    rehome show --last
    rehome show 5d0b2b7e --turns 2-5 --tools full
    rehome show 5d0b2b7e --format markdown > session.md
    agent -p --output-format stream-json "tidy up" | rehome show -`
}

type checkCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Stores, or folders that hold stores (default: the current directory). They are never changed."`

	Layer   []string `group:"What to check:" placeholder:"LAYER" help:"Only these layers: container, schema, references, meaning, secrets (default: all but secrets)"`
	Rule    []string `group:"What to check:" placeholder:"RULE" help:"Only these rules"`
	Skip    []string `group:"What to check:" placeholder:"RULE" help:"All rules but these"`
	Secrets bool     `group:"What to check:" help:"Also look for keys and tokens in conversations"`
	For     string   `group:"What to check:" placeholder:"FORMAT" help:"Also report what a conversion to this format would lose, such as claude-code"`
	Schema  string   `group:"What to check:" placeholder:"FILE" help:"Validate each line of the files against this JSON schema: a file, or a name from rehome schema"`
	From    string   `group:"What to check:" placeholder:"FORMAT" help:"Format of the paths (detected by default)"`
	Require bool     `group:"What to check:" help:"Fail if no sessions are found in the current directory"`

	Format        string `group:"Output:" enum:"text,json,sarif,junit,github,markdown" default:"text" placeholder:"FORM" help:"text (default), json, sarif (2.1.0), junit, github (annotations) or markdown"`
	FailOn        string `group:"Output:" enum:"error,warning,note" default:"warning" placeholder:"SEVERITY" help:"Exit with 4 on findings at or above this severity: error, warning (default) or note"`
	Notes         bool   `group:"Output:" help:"Print notes too (only counted by default)"`
	Baseline      string `group:"Output:" placeholder:"FILE" help:"Ignore the findings in this file, which --write-baseline wrote"`
	WriteBaseline bool   `group:"Output:" help:"Write all findings to the baseline, and remove those that are fixed"`

	Rules   bool   `group:"Rules:" help:"List all rules"`
	Explain string `group:"Rules:" placeholder:"RULE" help:"Explain a rule"`

	Live bool `group:"Advanced:" help:"Read a store in use in place, through its existing -wal and -shm files"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU). Does not change the result"`
}

func (checkCmd) Help() string {
	return `Checks every store it finds with the rules for its format. An error means that the store is corrupt, or that its
client would refuse it; a warning, that data is lost or behavior will surprise; a note, that something is worth
knowing. A store that its client is writing to is not reported as corrupt.

Rule ids never change their meaning. Commit a baseline, and only new findings count. If a store cannot be examined,
the exit status is 1 whatever else was found.

Examples:

    rehome check ~/.cursor/chats
    rehome check agents --format github
    rehome check . --baseline .rehome-baseline.json --fail-on error
    rehome check --explain RH301
    rehome check session.jsonl --schema canonical-1`
}

type detectCmd struct {
	Paths []string `arg:"" name:"path" help:"Files or folders to identify. Folders are searched for stores."`
}

func (detectCmd) Help() string {
	return `Prints each format that recognizes a path, with its evidence, best match first. Only the beginning of a file is read.

Examples:

    rehome detect store.db
    rehome detect ~/.cursor/chats --json`
}

type formatsCmd struct{}

func (formatsCmd) Help() string {
	return `"in" formats are read, "out" formats are written. Formats that carry the same kind of records convert into each other
exactly. Any format with sessions "in" converts to any format with sessions "out" through a common model; losses are
reported.

Examples:

    rehome formats
    rehome formats --json`
}

type schemaCmd struct {
	Name string `arg:"" optional:"" help:"Schema to print (default: list all names)"`
}

func (schemaCmd) Help() string {
	return `There is a schema for all text that rehome writes, and for the --json result of every command.

Examples:

    rehome schema
    rehome schema archive-manifest-1 > manifest.schema.json`
}

type demoCmd struct{}

func (demoCmd) Help() string {
	return `Four steps on a sample chat: show it, continue it in Claude Code, take it to text for git and back, and
catch a file that a commit left out. Everything is written to a new temporary folder, which is kept for you to
explore.

Examples:

    rehome demo
    rehome demo --color always | less -R`
}

type versionCmd struct{}

func (versionCmd) Help() string {
	return `Examples:

    rehome version
    rehome version --json`
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell"`
}

func (completionCmd) Help() string {
	return `Completes commands, flags, formats and the sessions of this machine.

Examples:

    rehome completion bash > ~/.local/share/bash-completion/completions/rehome
    rehome completion zsh > ~/.zfunc/_rehome
    rehome completion fish > ~/.config/fish/completions/rehome.fish
    rehome completion powershell > rehome.ps1`
}

type manCmd struct{}

func (manCmd) Help() string {
	return `Examples:

    rehome man | man -l -
    rehome man > ~/.local/share/man/man1/rehome.1`
}

type completeCmd struct {
	Prefix string `arg:"" optional:"" help:"What has been typed"`
}
