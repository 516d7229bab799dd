package main

import "rehome/formats/loss"

// grammar is the whole command line. What the commands do stands in the file
// named after each.
type grammar struct {
	JSON  bool   `name:"json" help:"Print one JSON object instead of text, errors included."`
	Color string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour: auto (on a terminal), always, never. FORCE_COLOR and NO_COLOR are heard too."`

	Convert convertCmd `cmd:"" help:"Carry a store, or a folder of stores, to another format."`
	Detect  detectCmd  `cmd:"" help:"Say what a file or folder is, and why."`
	Formats formatsCmd `cmd:"" help:"List the formats, and what can be done with each."`
	Schema  schemaCmd  `cmd:"" help:"List or print the published JSON schemas."`
	Demo    demoCmd    `cmd:"" help:"Show the main job on a small sample, in a folder of its own."`
	Version versionCmd `cmd:"" help:"Say which build this is."`
}

const about = `Move coding-agent sessions between the stores they live in, exactly where it can be exact.`

type convertCmd struct {
	Src string `arg:"" help:"A store, or a folder that holds stores. It is never changed."`
	Dst string `arg:"" optional:"" help:"Where the result goes. Nothing may be there yet. It may be left out with --cwd."`

	From        string    `placeholder:"FORMAT" help:"Read SRC as this format instead of asking all of them."`
	To          string    `placeholder:"FORMAT" help:"Write this format. An archive knows by itself what it came from."`
	DryRun      bool      `help:"Do it all in a scratch folder, place nothing, say what would happen."`
	Replace     bool      `help:"If DST exists, keep it as DST.bak-1 (-2, ...) and put the result in its place."`
	Strict      bool      `xor:"line" help:"The same as --allow reshaped."`
	Allow       loss.Kind `xor:"line" placeholder:"KIND" help:"The worst kind of loss that is still placed: reshaped, inferred, missing, dropped (default) or unreadable."`
	Residue     string    `default:"beside" placeholder:"WHERE" help:"Where to keep what DST has no room for: beside (DST.residue.ndjson, default), none, or a path."`
	WithSecrets bool      `help:"Let keys and tokens into text. They stay home otherwise."`
	Compress    string    `enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Write text as one compressed stream: none (default), gzip or zstd."`
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

    # what would happen, for a program to read
    rehome convert state.vscdb ide --to archive --dry-run --json

    # one compressed file a database, keys and tokens included: a backup
    rehome convert store.db backup --to archive --compress zstd --with-secrets`
}

type detectCmd struct {
	Paths []string `arg:"" name:"path" help:"Files or folders to look at. Folders are searched for stores."`
}

func (detectCmd) Help() string {
	return `Every format is asked, and each that recognises a path says what it saw; the best match stands first.
Only a few bytes are read.

Examples:

    rehome detect store.db
    rehome detect ~/.cursor/chats --json`
}

type formatsCmd struct{}

func (formatsCmd) Help() string {
	return `Formats that carry the same kind of records are relatives: a conversion between them is exact.

Examples:

    rehome formats
    rehome formats --json`
}

type schemaCmd struct {
	Name string `arg:"" optional:"" help:"The schema to print; all names are listed without it."`
}

func (schemaCmd) Help() string {
	return `Published are the schemas of the text that rehome writes: archives, residue, and the --json result of
every command.

Examples:

    rehome schema
    rehome schema archive-manifest-1 > manifest.schema.json`
}

type demoCmd struct{}

func (demoCmd) Help() string {
	return `A sample chat store becomes text, gains one turn, becomes text again: the demo shows the difference that
git would show. Then the text becomes a store again, and that it is the same is proved. An agent of the Cursor
SDK goes the same way, and to another checkout, where the SDK would find and resume it. Everything happens in
a new folder, which stays behind for you to look around in.

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
