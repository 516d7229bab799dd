package main

import "rehome/formats/loss"

// grammar is the whole command line. What the commands do stands in the file
// named after each.
type grammar struct {
	JSON  bool   `name:"json" help:"Print one JSON object instead of text, errors included."`
	Color string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Color: auto (on a terminal), always, never. FORCE_COLOR and NO_COLOR are heard too."`

	Convert convertCmd `cmd:"" help:"Carry a store, or a folder of stores, to another format."`
	Migrate migrateCmd `cmd:"" help:"Make sessions those of another client, which goes on with them."`
	Ls      lsCmd      `cmd:"" help:"List the sessions of this machine, whatever store they are in."`
	Show    showCmd    `cmd:"" help:"Show a session as people read it."`
	Check   checkCmd   `cmd:"" help:"Say whether stores are whole, and what is wrong with them."`
	Detect  detectCmd  `cmd:"" help:"Say what a file or folder is, and why."`
	Formats formatsCmd `cmd:"" help:"List the formats, and what can be done with each."`
	Schema  schemaCmd  `cmd:"" help:"List or print the published JSON schemas."`
	Demo    demoCmd    `cmd:"" help:"Show what rehome does, in four steps on a sample chat."`
	Version versionCmd `cmd:"" help:"Say which build this is."`

	Completion completionCmd `cmd:"" help:"Print what makes a shell complete commands, flags and sessions."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"What the completion scripts ask."`
}

const about = `Move coding-agent sessions between the stores they live in, exactly where it can be exact.`

type convertCmd struct {
	Src string `arg:"" optional:"" help:"A store, or a folder that holds stores. It is never changed. STORE#ID is one session of it; a session of this machine can be named by its id, the first characters of it, or words of its title. - is what comes through a pipe."`
	Dst string `arg:"" optional:"" help:"Where the result goes. Nothing may be there yet. It may be left out with --cwd."`

	From        string    `placeholder:"FORMAT" help:"Read SRC as this format instead of asking all of them."`
	To          string    `placeholder:"FORMAT" help:"Write this format. An archive knows by itself what it came from."`
	DryRun      bool      `help:"Do it all in a scratch folder, place nothing, say what would happen."`
	Replace     bool      `help:"If DST exists, keep it as DST.bak-1 (-2, ...) and put the result in its place."`
	Strict      bool      `xor:"line" help:"The same as --allow reshaped."`
	Allow       loss.Kind `xor:"line" placeholder:"KIND" help:"The worst kind of loss that is still placed: reshaped, inferred, missing, dropped (default) or unreadable."`
	Sidecar     string    `aliases:"residue" default:"beside" placeholder:"WHERE" help:"Where to keep what DST cannot hold, so that the way back is exact: beside (DST.sidecar.ndjson, default), none, or a path."`
	WithSecrets bool      `help:"Let keys and tokens into text. They stay home otherwise."`
	Compress    string    `enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Write text as one compressed stream: none (default), gzip or zstd."`
	Last        bool      `help:"In the place of SRC: the newest session of this folder."`
	History     bool      `aliases:"branches" help:"Carry the turns that the client went back on, too, as branches. Also --branches."`
	Session     []string  `sep:"none" placeholder:"ID" help:"Of all sessions in SRC only this one; may be given several times."`
	Workspace   string    `placeholder:"PATH" help:"Only sessions of this folder, or of folders in it."`
	Since       string    `placeholder:"WHEN" help:"Only sessions changed since then: 2026-11-01, yesterday, \"3 days\", 12h."`
	Live        bool      `help:"Read a store in use in place, where its -wal and -shm files already exist."`
	Cwd         *string   `placeholder:"DIR" help:"The folder that the sessions are to belong to. Without DST they go where the client looks for those of a program that works in it."`
	Home        *string   `placeholder:"DIR" help:"The home folder below which that place is, if it is not yours."`
	Jobs        int       `placeholder:"N" help:"Workers; one a processor if not given. The result is the same for any number."`
	Quiet       bool      `short:"q" help:"Print errors only."`
}

func (convertCmd) Help() string {
	return `SRC is read whole, DST is written beside its final place, read again and compared, and only then
given its name: whatever happens, DST is absent, or the old one, or complete. A folder of stores is carried
store by store, and one bad store does not stop the others.

Relatives go by the exact lane: records straight across. To canonical, SRC goes by the session lane: each session
becomes a file of text, DST/<agent>/<id>.jsonl, or all of them one, where DST ends in .jsonl. There, losses beyond
the allowed line hold back single sessions.

Without --to the target is what the text in SRC was made from; for any other SRC the formats it can become
are listed.

Clients find sessions by the folder that a program works in. --cwd DIR gives all of SRC to that folder, and
without a DST puts it where the client looks. DIR is taken as written, as the client takes it: /work and /work/
are two. One that is not absolute begins at the working directory.

Examples:

    # a chat as text for git, and back again
    rehome convert store.db chat --to archive
    rehome convert chat store.db

    # agents of the Cursor SDK as text for git, and in a checkout back again
    rehome convert ~/.cursor/projects/home-ann-app agents --to cursor-ndjson
    rehome convert agents --cwd .

    # all chats of this machine, one archive each
    rehome convert ~/.cursor/chats chats --to archive

    # what was said and done in all chats of this machine, a file a session
    rehome convert ~/.cursor/chats sessions --to canonical

    # what would happen, for a program to read
    rehome convert state.vscdb ide --to archive --dry-run --json

    # one compressed file a database, keys and tokens included: a backup
    rehome convert store.db backup --to archive --compress zstd --with-secrets`
}

type migrateCmd struct {
	Src string `arg:"" optional:"" help:"A session: a file or store with one in it, PATH#ID, or the beginning of an id or words of a title as rehome ls shows them. A store of several sessions gives all of them. - is what comes through a pipe. It is never changed."`

	To          string  `enum:"claude-code" default:"claude-code" placeholder:"CLIENT" help:"The client that is to go on with it: claude-code (default)."`
	From        string  `placeholder:"FORMAT" help:"Read SRC as this format instead of asking all of them."`
	Cwd         *string `placeholder:"DIR" help:"The folder that it is to go on in, if not the one that it belongs to."`
	Home        *string `placeholder:"DIR" help:"The home folder of the clients, if it is not yours."`
	ClaudeDir   *string `placeholder:"DIR" help:"The config folder of Claude Code: $CLAUDE_CONFIG_DIR, or .claude in the home folder, if not given."`
	Project     *string `placeholder:"DIR" help:"With --all: the sessions of this folder, and of folders in it."`
	All         bool    `help:"Every session of --project, whatever client it is of."`
	Last        bool    `help:"The newest session of this folder, in the place of SRC."`
	Thinking    string  `enum:"keep-as-text,drop" default:"keep-as-text" placeholder:"HOW" help:"The model's reasoning that another model cannot use: keep-as-text (default), or drop."`
	History     bool    `aliases:"branches" help:"Write the turns that the client went back on, too, as branches that nobody is shown. Also --branches."`
	FullHistory bool    `help:"Show the model what was compacted, too, not only the summary of it."`
	Update      bool    `xor:"again" help:"Write a session again that has grown since it was migrated, if nobody has gone on with it there."`
	Again       bool    `xor:"again" help:"Make a further session of it, beside the one that it was migrated to."`
	DryRun      bool    `help:"Place nothing, say what would happen."`
	Live        bool    `help:"Read a store in use in place, where its -wal and -shm files already exist."`
	Jobs        int     `placeholder:"N" help:"Workers; one a processor if not given."`
}

func (migrateCmd) Help() string {
	return `The session is written where the client looks for those of its folder, and the command that goes on with it
is printed. Prompts, answers, calls of tools and their results are sent to the model as if it had been the
client's own session; tools become the client's tools where it has such. What was lost or reshaped is listed.

Nothing that is there is overwritten. The same source gives the same session, so that a second time there is
nothing to do; one that has grown is written again with --update, as long as the client has not gone on with it.

With --home nothing is taken from the environment.

Examples:

    rehome migrate --last
    rehome migrate 5d0b2b7e
    rehome migrate ~/backup/.cursor/projects/home-ann-app#login --cwd ~/app
    rehome migrate --project . --all --dry-run`
}

type lsCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Files or folders to look below. Without one it is where the clients keep their sessions on this machine."`

	Long    bool   `help:"Decode sessions whose turns and size their stores do not tell, and say which stores each is in."`
	Project string `placeholder:"DIR" help:"Only sessions of this folder, or of folders in it."`
	Agent   string `placeholder:"NAME" help:"Only sessions of this client: cursor-cli, cursor-sdk, cursor-ide, ...; cursor means all of these."`
	Since   string `placeholder:"WHEN" help:"Only sessions changed since then: 2026-11-01, yesterday, \"3 days\", 12h."`
	Limit   *int   `placeholder:"N" help:"Only the newest N, one at least."`
	All     bool   `help:"Sessions in which nothing was said, too, and files that are no stores."`
	Live    bool   `help:"Read a store in use in place, where its -wal and -shm files already exist."`
	Jobs    int    `placeholder:"N" help:"Workers; one a processor if not given."`
}

func (lsCmd) Help() string {
	return `Of each store only names, times and counts are read, not what was said. A session that several stores hold
is shown once, as +1; --long names them. Subagents stand under their parents. A store that cannot be read is
listed with the reason. A time with a tilde is that of a file: the store has none. A dash is what only reading
the session would tell.

Examples:

    rehome ls
    rehome ls --project . --since 3d
    rehome ls ~/backup/.cursor --long
    rehome ls --agent cursor-sdk --json`
}

type showCmd struct {
	Src string `arg:"" optional:"" help:"A session: a file or store with one in it, PATH#ID, or the beginning of an id or words of a title as rehome ls shows them. - is stdin."`

	Format   string `enum:"text,markdown,json" default:"text" placeholder:"FORM" help:"text (default), markdown, or json: canonical lines."`
	Tools    string `enum:"brief,full,none" default:"brief" placeholder:"HOW" help:"What tools did: brief (default), full, or none."`
	Thinking bool   `help:"The model's reasoning, too."`
	Turns    string `placeholder:"RANGE" help:"Only these turns: 3, 2-5, 7-; =-3 for the last three."`
	History  bool   `aliases:"branches" help:"The turns that the client went back on, too, as branches. Also --branches."`
	Last     bool   `help:"The newest session of this folder, in the place of SRC."`
	NoPager  bool   `help:"Print to the terminal however long it is."`
	Live     bool   `help:"Read a store in use in place, where its -wal and -shm files already exist."`
}

func (showCmd) Help() string {
	return `Characters of the session that would act on a terminal are spelled out. On a terminal, text that is longer
than the screen goes through $PAGER, or less. A pipe is shown as it comes. What of a session could not be read
is said on stderr. Times are yours in text, and UTC in Markdown. With --json the canonical lines are printed.

Examples:

    rehome show --last
    rehome show 5d0b2b7e --turns 2-5 --tools full
    rehome show 5d0b2b7e --format markdown > session.md
    agent -p --output-format stream-json "tidy up" | rehome show -`
}

type checkCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Stores, or folders that hold stores (default: the current directory). They are never changed."`

	Format        string   `enum:"text,json,sarif,junit,github,markdown" default:"text" placeholder:"FORM" help:"text (default), json, sarif (2.1.0), junit, github (annotations), or markdown."`
	FailOn        string   `enum:"error,warning,note" default:"warning" placeholder:"SEVERITY" help:"The mildest finding that ends with 4: error, warning (default) or note."`
	Layer         []string `placeholder:"LAYER" help:"Only these layers: container, schema, references, meaning, secrets. All but secrets if not given."`
	Secrets       bool     `help:"Look for keys and tokens in what was said and done, too."`
	Rule          []string `placeholder:"RULE" help:"Only these rules."`
	Skip          []string `placeholder:"RULE" help:"Not these rules."`
	Notes         bool     `help:"Tell notes one by one; they are only counted otherwise."`
	Baseline      string   `placeholder:"FILE" help:"What is known and does not count: a file that --write-baseline made."`
	WriteBaseline bool     `help:"Write all that is found to the baseline, and drop from it what is mended."`
	For           string   `placeholder:"FORMAT" help:"Also what the sessions would lose on their way to this format, such as claude-code."`
	Schema        string   `placeholder:"FILE" help:"Hold each line of the paths, which are text of any kind, against this JSON schema: a file, or a name that rehome schema lists."`
	From          string   `placeholder:"FORMAT" help:"Read the paths as this format instead of asking all of them."`
	Require       bool     `help:"Fail if no sessions are found in the current directory"`
	Rules         bool     `help:"List all rules."`
	Explain       string   `placeholder:"RULE" help:"Say all about one rule."`
	Live          bool     `help:"Read a store in use in place, where its -wal and -shm files already exist."`
	Jobs          int      `placeholder:"N" help:"Workers; one a processor if not given. The result is the same for any number."`
}

func (checkCmd) Help() string {
	return `Folders are walked, and each store in them is asked what the rules ask of its format. An error means that
it is not whole, or that its client would refuse it; a warning, that something is lost or will surprise; a note, that
something is worth knowing. A store that its client is writing to is not broken.

Each rule has an id that never changes its meaning. What a baseline knows does not count: commit it, and only what
is new ends with 4. A place that could not be examined ends with 1, whatever else was found.

Examples:

    rehome check ~/.cursor/chats
    rehome check agents --format github
    rehome check . --baseline .rehome-baseline.json --fail-on error
    rehome check --explain RH301
    rehome check session.jsonl --schema canonical-1`
}

type detectCmd struct {
	Paths []string `arg:"" name:"path" help:"Files or folders to look at. Folders are searched for stores."`
}

func (detectCmd) Help() string {
	return `Every format is asked, and each that recognizes a path says what it saw; the best match stands first.
Only the first lines are read.

Examples:

    rehome detect store.db
    rehome detect ~/.cursor/chats --json`
}

type formatsCmd struct{}

func (formatsCmd) Help() string {
	return `What comes in is read, what goes out is written. Formats that carry the same kind of records are relatives:
a conversion between them is exact. From any format whose sessions come in to any whose sessions go out the way
is by meaning.

Examples:

    rehome formats
    rehome formats --json`
}

type schemaCmd struct {
	Name string `arg:"" optional:"" help:"The schema to print; all names are listed without it."`
}

func (schemaCmd) Help() string {
	return `Published are the schemas of the text that rehome writes: archives, sidecars, and the --json result of
every command.

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
	return `The answer comes from what the Go tools wrote into the binary.

Examples:

    rehome version
    rehome version --json`
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

func (completionCmd) Help() string {
	return `The script knows the commands, flags and formats of this build. For sessions it asks rehome, which lists
them as ls does.

Examples:

    rehome completion bash > ~/.local/share/bash-completion/completions/rehome
    rehome completion zsh > ~/.zfunc/_rehome
    rehome completion fish > ~/.config/fish/completions/rehome.fish
    rehome completion powershell > rehome.ps1`
}

type manCmd struct{}

func (manCmd) Help() string {
	return `The page is made from the same grammar as the help.

Examples:

    rehome man | man -l -
    rehome man > ~/.local/share/man/man1/rehome.1`
}

type completeCmd struct {
	Prefix string `arg:"" optional:"" help:"What has been typed."`
}
