// Package clients is the table of clients whose sessions rehome keeps without reading
// them: where they are, which files and tables hold them, and what is secret.
//
// The table is clients.txt. Once a format reads the sessions of a client, and lists it
// in its Clients, the section for the client only serves to restore older snapshots.
package clients

import (
	"embed"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/formats"
)

//go:embed clients.txt
var files embed.FS

// Client is a section of the table.
type Client struct {
	Name      string // as `--client` has it
	Title     string // for people
	Note      string // what to know about its stores, "" if nothing
	Encrypted bool   // nobody but the client can read them
	Reported  bool   // taken from reports, not from the client or its source

	Homes     []Home
	Keep      []string // patterns of files
	Beside    []string // of files that are kept if there are any of Keep
	Databases []string // patterns of SQLite databases
	Rows      string   // the table whose rows are sessions

	SecretFiles   []string // patterns
	SecretTables  []string
	SecretColumns []string // TABLE.COLUMN

	skip, session []string
}

// Home is a folder of stores.
type Home struct {
	System string // "all", "linux" for any other Unix, too, "darwin", "windows", or project
	Path   string // "~/" is the home folder; "${NAME:-DEFAULT}" a variable of the environment
}

// project is the System of homes that are project folders.
const project = "project"

// All returns the table.
var All = sync.OnceValue(func() []*Client {
	text, err := files.ReadFile("clients.txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	var out []*Client
	var c *Client
	families := map[string]*Client{}
	for line := range strings.Lines(string(text)) {
		key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		first, after, _ := strings.Cut(rest, " ")
		words := strings.Fields(rest)
		switch key {
		case "", "#":
		case "family":
			c = &Client{}
			families[rest] = c
		case "client":
			c = &Client{Name: first, Title: after}
			out = append(out, c)
		case "note":
			c.Note = rest
		case "encrypted":
			c.Encrypted = true
		case "reported":
			c.Reported = true
		case "home":
			from := []Home{{System: first}}
			if of := families[first]; of != nil {
				from = of.Homes
			}
			for _, h := range from {
				for _, p := range alternatives(after) {
					c.Homes = append(c.Homes, Home{h.System, path.Join(h.Path, p)})
				}
			}
		case "rows":
			c.Rows = rest
		default:
			list := c.list(key)
			*list = append(*list, words...)
		}
	}
	return out
})

// alternatives returns the paths that one with {A,B} stands for.
func alternatives(p string) (out []string) {
	before, rest, _ := strings.Cut(strings.ReplaceAll(p, "${", "\x00"), "{")
	group, after, ok := strings.Cut(rest, "}")
	if !ok {
		return []string{p}
	}
	for one := range strings.SplitSeq(group, ",") {
		out = append(out, alternatives(strings.ReplaceAll(before+one+after, "\x00", "${"))...)
	}
	return out
}

// list returns the list that a line of the table adds to.
func (c *Client) list(key string) *[]string {
	switch key {
	case "keep":
		return &c.Keep
	case "beside":
		return &c.Beside
	case "skip":
		return &c.skip
	case "sqlite":
		return &c.Databases
	case "session":
		return &c.session
	case "secret-file":
		return &c.SecretFiles
	case "secret-table":
		return &c.SecretTables
	case "secret-column":
		return &c.SecretColumns
	}
	panic("clients.txt: unknown word " + key)
}

// Names returns the names of the clients.
func Names() (out []string) {
	for _, c := range All() {
		out = append(out, c.Name)
	}
	return out
}

// Unread returns the clients whose sessions no format reads.
func Unread(reg *formats.Registry) []*Client {
	read := reg.Clients()
	return slices.DeleteFunc(slices.Clone(All()), func(c *Client) bool { return slices.Contains(read, c.Name) })
}

// Kept returns the clients whose files are kept as they are: no format reads their sessions, or it
// leaves that to this package.
func Kept(reg *formats.Registry) []*Client {
	unread := Unread(reg)
	return slices.DeleteFunc(slices.Clone(All()), func(c *Client) bool {
		return !slices.Contains(unread, c) && !slices.ContainsFunc(reg.All(), func(f *formats.Format) bool {
			return f.Home != nil && f.Home.Kept && slices.Contains(f.Clients, c.Name)
		})
	})
}

// Lookup returns the client with a name, nil if the table has none.
func Lookup(name string) *Client {
	for _, c := range All() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Roots returns the folders of the client's stores on a machine, which need not exist.
// Some clients keep theirs in project folders.
func (c *Client) Roots(m formats.Machine, projects []string) (out []string) {
	system := m.OS
	if system != "windows" && system != "darwin" {
		system = "linux"
	}
	for _, h := range c.Homes {
		if h.System == project {
			out = append(out, projects...)
		} else if h.System == "all" || h.System == system {
			out = append(out, expand(m, h.Path))
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(p string) bool { return !filepath.IsAbs(p) })
}

// expand returns a path of the table on a machine, "" if it has none.
func expand(m formats.Machine, p string) string {
	if name, rest, ok := strings.Cut(strings.TrimPrefix(p, "${"), "}"); ok {
		name, preset, _ := strings.Cut(name, ":-")
		if value := m.Env(name); value != "" {
			preset = filepath.ToSlash(value)
		}
		if preset == "" {
			return ""
		}
		p = preset + rest
	}
	if below, ok := strings.CutPrefix(p, "~/"); ok {
		p = path.Join(filepath.ToSlash(m.Home), below)
	}
	return filepath.FromSlash(p)
}

// matches reports whether a slash path matches one of some patterns.
func matches(rel string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return formats.Matches(p, rel, false) })
}

// leadsTo reports whether files in a folder can match one of some patterns.
func leadsTo(rel string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return formats.Matches(p, rel, true) })
}
