package lineclient

import (
	"context"
	"fmt"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/plainfiles"
	"rehome/formats/session"
)

// Client is what is to be known of a client.
type Client struct {
	Name  string // of the format
	Agent string // the client; "": it has the name of the format
	About string // one line for `rehome formats`
	Home  *formats.Home

	// Files are patterns of the files of sessions: folders below the home, each with "*" for
	// any part of a name, {parent} for the id of the session that began this one, or {id}, and
	// at last the name, in which {id} is that of the session if it is not one of the folders. A
	// name without one is that of a session whose head has the id.
	Files []string

	// Layout finds the files of sessions where patterns do not say it all. nil: Files do.
	Layout func() jsonl.Layout

	// Beside takes the title and the folder of a session from what the client keeps next to
	// its file. nil: it keeps nothing there.
	Beside func(s *jsonl.Store, f *jsonl.File, h *session.Head)

	// Replay makes the records of a session of the lines of its file, for a client in whose
	// files later lines change earlier ones. nil: each line is a record.
	Replay func(lines Source) Source

	// Head is the kind of the line that begins a file, and what it states. An empty member
	// is not stated.
	Head Head

	// Line names the members that lines have.
	Line Line

	// Of returns the kind of a line, and the member with its content, where versions differ
	// in more than Line.Kind and Kind.In say. nil: those say it.
	Of func(line *Fields) (kind, in string)

	// Subagent returns the name of the subagent whose line it is, "" for a line of the session
	// itself, and which call started it. nil: subagents have files of their own.
	Subagent func(r *Record) (name string, of session.Link)

	// Kinds are the kinds of lines, by the values of Line.Kind, joined by blanks. A line of
	// any other kind is carried as it is.
	Kinds map[string]Kind

	// Tested are the versions whose sessions were tested, newest first. Fields are the extras
	// that they write, and Tools their tools that no table has; see package doctor.
	Tested, Fields, Tools []string
	// Parts are the types of parts that are kept as they are.
	Parts []string

	// Consequences say what the client does about what breaks a rule, by its id. A rule
	// that has none is not asked.
	Consequences map[string]string

	// First applies the client's own rules to the first line of a file. nil: it has none.
	First func(a *Audit, r *Record)

	// Decode reads a session whose conversation is no tree of lines. nil: it is one.
	Decode func(in Input) (*session.Session, error)

	// Bases returns the other files that a session begins in. nil: there are none.
	Bases func(in Input) []*jsonl.File

	Move *Move // how sessions follow their folder. nil: they do not.

	ReadOnly string // see formats.Format

	Spell *Spelling // how sessions are written; nil: they are only read

	names  []string // of the kinds, see Client.kind
	index  map[string]uint16
	titles [][]byte // what lines with a title contain
}

// Head names the members of the content of the line that names the session. Cwd can be a
// slash path.
type Head struct {
	Kind             string
	ID, Created, Cwd string
	Version          string // an extra of the session: that of the client

	// Parent returns the session that started this one. nil: none is started by another.
	Parent func(head *Record) *session.Link
}

// Line names the members that all lines have.
type Line struct {
	Kind   []string // slash paths
	ID     string
	Parent string // "" for a client whose lines follow one another
	Flat   bool   // they do, whatever their parents are
	Time   string
	Number string // that of the line in its file, which newer versions write
}

// Kind says what becomes of a kind of lines.
type Kind struct {
	In   string       // the member with the content; "": the line itself has it
	Role session.Role // who speaks; "": nobody, see Aside

	Prompt    bool // a turn begins
	Simulated bool // the client speaks for the user

	// Given reports a prompt that the client gives for the user: no turn begins.
	Given func(r *Record) bool

	// Say returns what is said. Members that it does not take become extras of the message.
	// nil: the line is one opaque part.
	Say func(r *Record) []session.Part

	// Turn tells what the line says of its turn. It takes nothing.
	Turn func(r *Record, t *session.Turn)

	// Model is the member that names the model.
	Model string

	// Title is the member that has the name that the user gave to the session.
	Title string

	// Aside lines are settings, which become extras of their turn.
	Aside bool

	// Own reports a line that rehome wrote for itself, which says nothing.
	Own func(r *Record) bool

	// Named is the member with the name by which other lines refer to this one, which say
	// what it says: see Record.Find.
	Named string

	// Unsent reports a line that says something that the client does not send.
	Unsent func(r *Record) bool

	// Keeps is the member of a compaction with the id of the first line that stays; the
	// lines before it are archived.
	Keeps string

	// Since is the kind of the line at which a compaction begins, if it says something; the
	// lines before that are archived, or all where there is none.
	Since string

	// Once reports that such lines are not sent again if a compaction keeps them.
	Once bool

	// Edits is the member with the id of the line that has other content from now on, and
	// With that with its content, null if it is not sent any more.
	Edits, With string

	// Opens and Closes are the members with the id of the call that a line begins, or is the
	// result of, where Say does not tell.
	Opens, Closes string

	// Needs are members without which the client fails.
	Needs []string
}

// Record is a line, and the members of its content.
type Record struct {
	jsonl.Line
	*Fields
	ID   string
	Kind string
	Time session.Stamp
	line *Fields // the members around the content
	in   string  // the member with the content
	find func(name string) *Record

	agent string       // whose line it is
	by    session.Link // and who started that
}

// family is the name by which rules know these formats.
const family = "lines"

// Input is a session that is to be read.
type Input struct {
	Ctx      context.Context
	Store    *jsonl.Store
	File     *jsonl.File
	View     formats.View
	Sel      session.Selection
	Head     session.Head
	First    []byte // the content of the head
	Prompted bool   // its title is the first prompt
	Err      error  // it cannot be read
	c        *Client
}

// Of returns the same of another file of the store.
func (in Input) Of(f *jsonl.File) Input { return in.c.input(in.Ctx, in.Store, f, in.View.Cwd) }

// Format returns the format of a client.
func Format(c Client) *formats.Format {
	c.prepare()
	f := &formats.Format{
		Name:     c.Name,
		Title:    c.About,
		Clients:  []string{c.Agent},
		Family:   family,
		Known:    c.known(),
		ReadOnly: c.ReadOnly,
		Probe:    c.probe,
		Plain:    plainfiles.Records(c.Name),
		Sessions: &formats.Sessions{
			Decode: c.decode,
			Heads:  c.heads,
			Scan: func(ctx context.Context, l *formats.Location, _ formats.View, s *formats.Scan) error {
				return jsonl.Scan(ctx, l, c.layout(), s, c.bases(ctx))
			},
		},
		Home:   c.Home,
		Mover:  c.mover(),
		Check:  c.check,
		Repair: linerepair.Repair,
	}
	if c.Spell != nil {
		f.Writer = NewWriter(c, c.isMark, c.check)
	}
	return f
}

// known returns what versions of the client are known to write.
func (c *Client) known() string {
	records := append(c.names[1:len(c.names):len(c.names)], c.Parts...)
	for _, kind := range records {
		if _, last, two := strings.Cut(kind, " "); two {
			records = append(records, last)
		}
	}
	var out strings.Builder
	for _, line := range []struct {
		word  string
		names []string
	}{{"tested", c.Tested}, {"version", strings.Fields(c.Head.Version)}, {"record", records}, {"field", append(c.Fields, records...)}, {"tool", c.Tools}} {
		if len(line.names) > 0 {
			fmt.Fprintln(&out, line.word, strings.Join(line.names, " "))
		}
	}
	return out.String()
}

// bases returns Bases for a search; nil if there are none.
func (c *Client) bases(ctx context.Context) func(*jsonl.Store, *jsonl.File) []*jsonl.File {
	if c.Bases == nil {
		return nil
	}
	return func(s *jsonl.Store, f *jsonl.File) []*jsonl.File { return c.Bases(c.input(ctx, s, f, "")) }
}
