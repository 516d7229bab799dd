package main

import (
	"time"

	"rehome/formats/loss"
)

// grammar is the whole command line. Each command is implemented in the file
// named after it.
type grammar struct {
	JSON    bool   `name:"json" help:"Print JSON instead of text, including for errors"`
	Color   string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Use color: auto (default; honors NO_COLOR and FORCE_COLOR), always or never"`
	Quiet   bool   `short:"q" xor:"talk" help:"Print only errors and requested output, no reports or progress"`
	Verbose bool   `short:"v" xor:"talk" help:"Print more detail"`

	Convert convertCmd `cmd:"" help:"Convert session stores between formats"`
	Migrate migrateCmd `cmd:"" help:"Migrate sessions to another client, so you can continue them there"`
	Watch   watchCmd   `cmd:"" help:"Keep text up to date while clients write"`
	Backup  backupCmd  `cmd:"" help:"Back up the sessions of every client on this machine"`
	Restore restoreCmd `cmd:"" help:"Restore sessions from a backup"`
	Ls      lsCmd      `cmd:"" help:"List the sessions on this machine, from every client"`
	Show    showCmd    `cmd:"" help:"Print a session as a readable transcript"`
	Check   checkCmd   `cmd:"" help:"Verify stores and report problems"`
	Detect  detectCmd  `cmd:"" help:"Identify the format of files and folders"`
	Formats formatsCmd `cmd:"" help:"List the supported formats"`
	Schema  schemaCmd  `cmd:"" help:"List or print the published JSON schemas"`
	Demo    demoCmd    `cmd:"" help:"Demonstrate rehome on a sample chat, in four steps"`
	Version versionCmd `cmd:"" help:"Print version information"`

	Completion completionCmd `cmd:"" help:"Generate a shell completion script"`
	Man        manCmd        `cmd:"" help:"Print the manual page"`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"Print candidates for the completion scripts"`
}

const about = `Move coding-agent sessions between clients, and to git-friendly text and back.`

type convertCmd struct {
	Src string `arg:"" optional:"" help:"Store, folder of stores, STORE#ID (one session of a store), or session on this machine (its id, an id prefix, or words from its title). Use - to read from stdin. SRC is never modified."`
	Dst string `arg:"" optional:"" help:"Target to create. Must not exist unless you pass --replace or --update. Optional with --cwd."`

	From string `group:"Formats:" placeholder:"FORMAT" help:"Format of SRC (detected by default)"`
	To   string `group:"Formats:" placeholder:"FORMAT" help:"Format to write (default for text made from a store: the format of that store)"`

	Last    bool     `group:"Which sessions:" help:"Use the newest session of the current directory as SRC"`
	Session []string `group:"Which sessions:" sep:"none" placeholder:"ID" help:"Include only the session with this id (repeatable)"`
	Project string   `group:"Which sessions:" aliases:"workspace" placeholder:"DIR" help:"Include only sessions of this folder and its subfolders"`
	Since   string   `group:"Which sessions:" placeholder:"WHEN" help:"Include only sessions changed since WHEN: 2026-11-01, yesterday, \"3 days\", 12h, ..."`
	History bool     `group:"Which sessions:" aliases:"branches" help:"Also include abandoned turns, as branches"`

	DryRun      bool    `group:"Output:" help:"Convert and verify, but do not write DST"`
	Replace     bool    `group:"Output:" help:"Replace an existing DST, keeping the old one as DST.bak-1 (-2, ...)"`
	Update      bool    `group:"Output:" help:"Bring an existing DST up to date: write only what changed, and keep what is no longer in SRC"`
	Delete      bool    `group:"Output:" help:"With --update, also remove what is no longer in SRC"`
	Force       bool    `group:"Output:" help:"With --update, overwrite edited files that are not committed, keeping them in DST.bak-1 (-2, ...)"`
	Cwd         *string `group:"Output:" placeholder:"DIR" help:"Assign the sessions to this folder; without DST, write them where their client looks for them"`
	Home        *string `group:"Output:" placeholder:"DIR" help:"Home folder to write to when --cwd is used without DST (default: yours)"`
	Flat        bool    `group:"Output:" help:"Write the four files of the Cursor SDK, not a folder for each agent (cursor-ndjson)"`
	Compress    string  `group:"Output:" enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Compress text into one file per store: none (default), gzip or zstd"`
	WithSecrets bool    `group:"Output:" help:"Include keys and tokens in text output (left out by default)"`

	Allow   loss.Kind `group:"Losses:" xor:"line" placeholder:"KIND" help:"Accept losses up to this kind: reshaped, inferred, missing, dropped (default) or unreadable"`
	Strict  bool      `group:"Losses:" xor:"line" help:"Same as --allow reshaped"`
	Sidecar string    `group:"Losses:" aliases:"residue" default:"beside" placeholder:"WHERE" help:"Where to save what DST cannot hold: beside (DST.sidecar.ndjson, default), none, or a path"`

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`

	Verify string `group:"Advanced:" enum:"fast,full" default:"fast" placeholder:"HOW" help:"How to verify canonical text: compare its bytes with what was written (fast, default), or also decode it again (full)"`
}

func (convertCmd) Help() string {
	return `Formats that store the same kind of records convert exactly: every record is copied and compared. All other pairs
convert session by session through a common model, and losses are reported. "rehome formats" lists which is which.

The result is written to a temporary location, read back and verified, and only then renamed to DST: DST is complete
or absent. In a folder of stores, one bad store does not stop the others.

--to canonical writes one JSON line per message: one file per session, DST/<client>/<id>.jsonl, or a single file if
DST ends in .jsonl.

--update compares the result with an existing DST and writes only the files that differ: all of them, or none if it
is interrupted or fails. What is no longer in SRC stays in DST and is listed. A file of DST that somebody edited is not
overwritten, unless it is committed to git. Stores that have not changed since the last update are not read.

Clients look up sessions by working directory, exactly as it is spelled, so --cwd /work and --cwd /work/ are different
folders. A relative DIR is made absolute first.

Examples:

    # a chat as text for git, and back
    rehome convert store.db chat --to archive
    rehome convert chat store.db

    # agents of the Cursor SDK as text for git, and restored in a checkout
    rehome convert ~/.cursor/projects/home-ann-app agents --to cursor-ndjson
    rehome convert agents --cwd .

    # all chats on this machine, one archive each; again after a day of work
    rehome convert ~/.cursor/chats chats --to archive --update

    # the conversations of all chats, one file per session
    rehome convert ~/.cursor/chats sessions --to canonical

    # what would happen, as JSON
    rehome convert state.vscdb ide --to archive --dry-run --json

    # a backup: one compressed file per database, keys and tokens included
    rehome convert store.db backup --to archive --compress zstd --with-secrets`
}

type watchCmd struct {
	Src string `arg:"" help:"Store, or folder of stores. It may appear later. SRC is never modified."`
	Dst string `arg:"" help:"Target to keep up to date, as with convert --update"`

	From string `group:"Formats:" placeholder:"FORMAT" help:"Format of SRC (detected by default)"`
	To   string `group:"Formats:" placeholder:"FORMAT" help:"Format to write"`

	Project     string `group:"What to include:" placeholder:"DIR" help:"Include only sessions of this folder and its subfolders"`
	WithSecrets bool   `group:"What to include:" help:"Include keys and tokens in text output (left out by default)"`

	Interval time.Duration `group:"Watching:" default:"5s" placeholder:"TIME" help:"How often to look for changes that the file system does not report (default: 5s)"`
	Once     bool          `group:"Watching:" help:"Update DST once and exit"`

	Compress string    `group:"Output:" enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Compress text into one file per store: none (default), gzip or zstd"`
	Allow    loss.Kind `group:"Losses:" xor:"line" placeholder:"KIND" help:"Accept losses up to this kind: reshaped, inferred, missing, dropped (default) or unreadable"`
	Strict   bool      `group:"Losses:" xor:"line" help:"Same as --allow reshaped"`
	Sidecar  string    `group:"Losses:" default:"beside" placeholder:"WHERE" help:"Where to save what DST cannot hold: beside (DST.sidecar.ndjson, default), none, or a path"`

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (watchCmd) Help() string {
	return `Runs "rehome convert SRC DST --update" whenever SRC has changed, a second after the last write, and prints a line for
each change. Every update is verified; each store in DST is updated completely or not at all. What vanishes from SRC
is kept in DST.

If an update fails, the reason is printed once, and it is tried again: when the disk is full, when a client is
writing, or when somebody has edited DST. If SRC does not exist, watch waits for it.

Interrupt it (Ctrl-C, or SIGTERM) to stop. An update that has begun is finished or undone.

Examples:

    # agents of the Cursor SDK, in a folder of a git repository
    rehome watch ~/.cursor/projects/home-ann-app agents --to cursor-ndjson

    # all sessions of Claude Code, one JSON object per change
    rehome watch ~/.claude/projects sessions --to canonical --json

    # on a network file system, which reports no changes
    rehome watch /mnt/ann/.cursor/chats chats --to archive --interval 30s`
}

type migrateCmd struct {
	Src string `arg:"" optional:"" help:"File, store (all its sessions), PATH#ID, or session on this machine (its id, an id prefix, or words from its title, as rehome ls prints them). Use - to read from stdin. SRC is never modified."`

	Last    bool    `group:"Which sessions:" help:"Use the newest session of the current directory as SRC"`
	All     bool    `group:"Which sessions:" help:"Migrate all sessions of --project, from every client"`
	Project *string `group:"Which sessions:" placeholder:"DIR" help:"With --all, migrate the sessions of this folder and its subfolders"`
	From    string  `group:"Which sessions:" placeholder:"FORMAT" help:"Format of SRC (detected by default)"`

	Compacted  bool   `group:"What to include:" aliases:"full-history" help:"Also send compacted turns, not only their summary"`
	History    bool   `group:"What to include:" aliases:"branches" help:"Also include abandoned turns, as branches that the model does not see"`
	NoThinking bool   `group:"What to include:" help:"Leave out the model's reasoning (by default, kept as text if another model cannot use it)"`
	Thinking   string `enum:"keep-as-text,drop" default:"keep-as-text" hidden:""`

	To        string  `group:"Where to:" enum:"claude-code" default:"claude-code" placeholder:"CLIENT" help:"Client to continue in: claude-code (default)"`
	Cwd       *string `group:"Where to:" placeholder:"DIR" help:"Folder to continue in (default: the session's own)"`
	Home      *string `group:"Where to:" placeholder:"DIR" help:"Home folder of the clients (default: yours); $CLAUDE_CONFIG_DIR and the like are then ignored"`
	ClaudeDir *string `group:"Where to:" placeholder:"DIR" help:"Config folder of Claude Code (default: $CLAUDE_CONFIG_DIR, or .claude in the home folder)"`
	Update    bool    `group:"Where to:" xor:"again" help:"Overwrite an earlier migration of a session that has grown, unless you have continued it in Claude Code"`
	Again     bool    `group:"Where to:" xor:"again" help:"Migrate again as another session, next to the earlier one"`
	DryRun    bool    `group:"Where to:" help:"Report what would happen, without writing anything"`

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (migrateCmd) Help() string {
	return `Writes the session where the client looks for sessions of its folder, and prints the command that continues it.
Prompts, answers, tool calls and results are sent to the model as if the session had started there. Tool calls are
translated to the client's own tools where it has equivalents. Losses are reported.

Nothing is overwritten. The same session always gets the same id, so a second run changes nothing. If the session
has grown since, --update writes it again.

Examples:

    rehome migrate --last
    rehome migrate 5d0b2b7e
    rehome migrate ~/backup/.cursor/projects/home-ann-app#login --cwd ~/app
    rehome migrate --project . --all --dry-run`
}

type backupCmd struct {
	Dir string `arg:"" optional:"" help:"Folder of backups (default: rehome/backup in your data folder). Created if missing; private to you."`

	WithoutSecrets bool `group:"What to include:" help:"Leave out keys and tokens"`
	Delete         bool `group:"What to include:" help:"Drop sessions that no longer exist on this machine (kept by default)"`

	Keep     int    `group:"Output:" placeholder:"N" help:"Remove the oldest snapshots beyond N (default: keep all)"`
	DryRun   bool   `group:"Output:" help:"Read and verify everything, but write nothing"`
	Schedule string `group:"Output:" name:"print-schedule" enum:",cron,launchd,windows,claude" default:"" placeholder:"FOR" help:"Print how to run this backup regularly: a line for cron, a plist for launchd, a command for windows, or a hook for claude. Installs nothing."`

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (backupCmd) Help() string {
	return `Each run makes a snapshot, DIR/<time in UTC>, that is complete by itself: SQLite stores as archives, all other stores
as copies of their files. Everything is verified. Equal files are hard links to the previous snapshot, so a snapshot
takes only the space of what has changed. If nothing has changed, there is no new snapshot.

Sessions that a client has deleted stay in the backup. The backup includes keys and tokens, so it is refused inside a
git work tree unless you pass --without-secrets.

Examples:

    rehome backup
    rehome backup /mnt/disk/sessions --keep 30
    rehome backup --print-schedule cron`
}

type restoreCmd struct {
	Backup  string `arg:"" optional:"" help:"Folder of backups, or a snapshot in it (default: the newest snapshot in rehome/backup in your data folder)"`
	Session string `arg:"" optional:"" help:"Session to restore: its id, an id prefix, or words from its title (default: everything)"`

	Client  string `group:"Which sessions:" placeholder:"NAME" help:"Restore only sessions of this client: cursor-cli, cursor-sdk, cursor-ide, ... (cursor for all three)"`
	Project string `group:"Which sessions:" placeholder:"DIR" help:"Restore only sessions of this folder and its subfolders"`

	To      string `group:"Where to:" placeholder:"DIR" help:"Restore to this folder, as if it were your home folder"`
	Replace bool   `group:"Where to:" help:"Replace what is older than the backup, keeping it as NAME.bak-1 (-2, ...)"`
	DryRun  bool   `group:"Where to:" help:"Verify the backup and list what would be restored, without writing anything"`

	Jobs int `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (restoreCmd) Help() string {
	return `Restores stores to where their clients look for them. What exists is compared first: what is equal stays as it is, what
is older than the backup is refused unless you pass --replace, and what is newer is never touched.

A store that holds many sessions is restored only as a whole. To get single sessions of it back, restore it to another
folder with --to, and migrate them from there.

Examples:

    rehome restore --dry-run
    rehome restore
    rehome restore --client claude-code --project ~/app
    rehome restore /mnt/disk/sessions/2026-11-22T172803Z 5d0b2b7e
    rehome restore --to ~/restored`
}

type lsCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Files or folders to search (default: where the clients keep their sessions)"`

	Project string `group:"Which sessions:" placeholder:"DIR" help:"Include only sessions of this folder and its subfolders"`
	Client  string `group:"Which sessions:" aliases:"agent" placeholder:"NAME" help:"Include only sessions of this client: cursor-cli, cursor-sdk, cursor-ide, ... (cursor for all three)"`
	Since   string `group:"Which sessions:" placeholder:"WHEN" help:"Include only sessions changed since WHEN: 2026-11-01, yesterday, \"3 days\", 12h, ..."`
	Limit   *int   `group:"Which sessions:" placeholder:"N" help:"Include only the newest N sessions"`
	All     bool   `group:"Which sessions:" help:"Also list empty sessions, and files that are not stores"`

	Long bool `group:"Advanced:" help:"Read sessions to fill in unknown columns, and print where each is stored"`
	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (lsCmd) Help() string {
	return `Reads names, times and counts, not conversations. "–" means unknown; --long (or -v) reads the session to find out.
"~" marks a time taken from the file, because the store has none. "+1" means that a second store holds the session
too. Subagents are listed below their parents; stores that cannot be read are listed at the end.

Examples:

    rehome ls
    rehome ls --project . --since 3d
    rehome ls ~/backup/.cursor --long
    rehome ls --client cursor-sdk --json`
}

type showCmd struct {
	Src string `arg:"" optional:"" help:"File, store, PATH#ID, or session on this machine (its id, an id prefix, or words from its title, as rehome ls prints them). Use - to read from stdin."`

	Last  bool   `group:"Which session:" help:"Use the newest session of the current directory as SRC"`
	Turns string `group:"Which session:" placeholder:"RANGE" help:"Print only these turns: 3, 2-5, 7-, or --turns=-3 for the last three"`

	Tools    string `group:"What to include:" enum:"brief,full,none" default:"brief" placeholder:"HOW" help:"Print tool calls and results: brief (default), full or none"`
	Thinking bool   `group:"What to include:" help:"Also include the model's reasoning"`
	History  bool   `group:"What to include:" aliases:"branches" help:"Also include abandoned turns, as branches"`

	Format  string `group:"Output:" enum:"text,markdown,json" default:"text" placeholder:"FORM" help:"Output format: text (default), markdown, or json (canonical lines)"`
	NoPager bool   `group:"Output:" help:"Do not use a pager"`

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
}

func (showCmd) Help() string {
	return `On a terminal, long output goes through $PAGER (default: less). Control characters in the session are escaped. A
stream from stdin is printed as it arrives. Times are local in text output and UTC in Markdown. Anything that cannot be
read is reported on stderr; -v prints the full list.

Examples:

    rehome show --last
    rehome show 5d0b2b7e --turns 2-5 --tools full
    rehome show 5d0b2b7e --format markdown > session.md
    agent -p --output-format stream-json "tidy up" | rehome show -`
}

type checkCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Stores, or folders that hold stores (default: the current directory). They are never changed."`

	Layer   []string `group:"What to check:" placeholder:"LAYER" help:"Check only these layers: container, schema, references, meaning, secrets (default: all but secrets)"`
	Rule    []string `group:"What to check:" placeholder:"RULE" help:"Check only these rules"`
	Skip    []string `group:"What to check:" placeholder:"RULE" help:"Skip these rules"`
	Secrets bool     `group:"What to check:" help:"Also look for keys and tokens in conversations"`
	For     string   `group:"What to check:" placeholder:"FORMAT" help:"Also report what a conversion to this format would lose, such as claude-code"`
	Schema  string   `group:"What to check:" placeholder:"FILE" help:"Validate each line of the files against a JSON schema: a file, or a name from rehome schema"`
	From    string   `group:"What to check:" placeholder:"FORMAT" help:"Format of the stores (detected by default)"`
	Require bool     `group:"What to check:" help:"Fail if no sessions are found in the current directory"`

	Format        string `group:"Output:" enum:"text,json,sarif,junit,github,markdown" default:"text" placeholder:"FORM" help:"Output format: text (default), json, sarif (2.1.0), junit, github (annotations) or markdown"`
	FailOn        string `group:"Output:" enum:"error,warning,note" default:"warning" placeholder:"SEVERITY" help:"Exit with 4 on findings at or above this severity: error, warning (default) or note"`
	Notes         bool   `group:"Output:" help:"Also print notes (only counted by default)"`
	Baseline      string `group:"Output:" placeholder:"FILE" help:"Ignore the findings in this file (see --write-baseline)"`
	WriteBaseline bool   `group:"Output:" help:"Add all findings to the baseline, and remove those that are fixed"`

	Rules   bool   `group:"Rules:" help:"List all rules"`
	Explain string `group:"Rules:" placeholder:"RULE" help:"Explain a rule"`

	Live bool `group:"Advanced:" help:"Read stores that are in use directly, not from a copy (requires their -wal and -shm files)"`
	Jobs int  `group:"Advanced:" placeholder:"N" help:"Max number of workers (default: one per CPU)"`
}

func (checkCmd) Help() string {
	return `Checks every store it finds against the rules for its format. An error means that the store is corrupt, or that
its client would reject it. A warning means that data is lost, or that the client will behave unexpectedly. A note
is informational. A store that its client is writing to is not reported as corrupt.

Rule ids never change meaning. Commit a baseline so that only new findings count. If a store cannot be examined, the
exit status is 1 (5 if it is in use), whatever else was found.

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
	return `Prints each format that recognizes a path, with a score and the evidence, best match first. Only the beginning of a
file is read.

Examples:

    rehome detect store.db
    rehome detect ~/.cursor/chats --json`
}

type formatsCmd struct{}

func (formatsCmd) Help() string {
	return `rehome reads formats marked "in" and writes formats marked "out". Formats that store the same kind of records convert
to each other exactly. Any format with sessions "in" converts to any format with sessions "out" through a common
model, and losses are reported.

Examples:

    rehome formats
    rehome formats --json`
}

type schemaCmd struct {
	Name string `arg:"" optional:"" help:"Schema to print (default: list all names)"`
}

func (schemaCmd) Help() string {
	return `Every text format that rehome writes has a schema, and so does the --json result of every command.

Examples:

    rehome schema
    rehome schema archive-manifest-2 > manifest.schema.json`
}

type demoCmd struct{}

func (demoCmd) Help() string {
	return `Shows a sample chat, migrates it to Claude Code, converts it to text for git and back, and finds a file missing from
a commit. Everything is written to a new temporary folder, which is kept for you to explore.

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
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"Shell to generate the script for: bash, zsh, fish or powershell"`
}

func (completionCmd) Help() string {
	return `The script completes commands, flags, formats and the sessions on this machine.

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
	Prefix string `arg:"" optional:"" help:"Text typed so far"`
}
