package pipe

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// used is what the calls of a session need of the client: servers and commands.
type used struct {
	servers, commands map[string]bool
}

const (
	maxUsed  = 256 // servers or commands
	maxWords = 4   // of a command
	maxWord  = 64  // bytes of one, and of the name of a server
)

// add adds the calls of a message that the client sends to its model.
func (u *used) add(m *session.Message) {
	if m.Branch != "" {
		return
	}
	for _, p := range m.Parts {
		if c, ok := p.(*session.ToolCall); ok {
			u.servers = put(u.servers, serverOf(c))
			if c.Kind == "shell" {
				u.commands = put(u.commands, commandOf(c))
			}
		}
	}
}

func put(set map[string]bool, name string) map[string]bool {
	if name == "" || len(set) >= maxUsed {
		return set
	}
	if set == nil {
		set = map[string]bool{}
	}
	set[name] = true
	return set
}

// serverOf returns the MCP server whose tool is called, "" if it is none or not known.
func serverOf(c *session.ToolCall) string {
	if rest, ok := strings.CutPrefix(c.Name, "mcp__"); ok {
		name, _, _ := strings.Cut(rest, "__")
		return short(name)
	}
	if c.Kind != "mcp" {
		return ""
	}
	for _, doc := range [][]byte{c.Input, c.Args} {
		for _, name := range []string{"server", "providerIdentifier", "serverIdentifier", "server_name", "serverName"} {
			if s := cmp.Or(rawjson.TextAt(doc, name), rawjson.TextAt(first(rawjson.At(doc, "tools")), name)); s != "" {
				return short(s)
			}
		}
	}
	return ""
}

func first(list []byte) []byte {
	if len(list) > 0 && list[0] == '[' {
		for v := range rawjson.Elements(list) {
			return v
		}
	}
	return nil
}

// commandOf returns the first words of a command line, as far as a shell changes nothing
// of them, without what it sets before it runs them.
func commandOf(c *session.ToolCall) string {
	line := ""
	for _, doc := range [][]byte{c.Input, c.Args} {
		line = cmp.Or(line, rawjson.TextAt(doc, "command"), rawjson.TextAt(doc, "cmd"))
	}
	var words []string
	for _, w := range strings.Fields(line[:min(len(line), 4<<10)]) {
		if strings.ContainsAny(w, "\"'`$\\|&;<>(){}*?[]#~") || len(w) > maxWord || len(words) == maxWords {
			break
		}
		if len(words) > 0 || !strings.Contains(w, "=") {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

func short(name string) string {
	if len(name) > maxWord {
		return ""
	}
	return name
}

// names returns a set in order.
func names(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
