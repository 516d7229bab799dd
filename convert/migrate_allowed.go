package convert

import (
	"slices"
	"strings"

	"rehome/convert/internal/settings"
	"rehome/formats"
)

// AllowedCommand is a rule by which one client ran commands of a session without asking,
// and which the other lacks.
type AllowedCommand struct {
	Words string // that the commands begin with
	From  string // the file that has the rule
	Rule  string // as the client to continue in would have it, in
	File  string
}

const (
	maxRules = 1000 // that are read of a file
	maxRule  = 256  // bytes of the words of one
)

// allowRule is a rule of a file: the words that a command begins with, or is.
type allowRule struct {
	words, file string
	exact       bool
}

// LackingRules returns the rules of the session's client that let it run commands of the
// session, and that its new client has no match for. used describes this machine as the
// first sees it, and to as the other does.
func LackingRules(reg *formats.Registry, client *formats.Format, m *Migrated, used, to formats.Machine) (out []AllowedCommand) {
	if client.Home.Allowed == nil || m.Cwd == "" {
		return nil
	}
	have := rulesOf(client.Home.Allowed, to, m.Cwd)
	for _, f := range reg.All() {
		if f == client || f.Home == nil || f.Home.Allowed == nil || !slices.Contains(f.Clients, m.Agent) {
			continue
		}
		for _, r := range rulesOf(f.Home.Allowed, used, m.Cwd) {
			needed := slices.ContainsFunc(m.Commands, func(command string) bool {
				return r.matches(command) && !slices.ContainsFunc(have, func(h allowRule) bool { return h.matches(command) })
			})
			if !needed || r.words == "" || slices.ContainsFunc(out, func(a AllowedCommand) bool { return a.Words == r.words }) {
				continue
			}
			a := client.Home.Allowed
			rule := a.Tool + "(" + r.words + a.Rest + ")"
			if r.exact {
				rule = a.Tool + "(" + r.words + ")"
			}
			out = append(out, AllowedCommand{Words: r.words, From: r.file, Rule: rule, File: a.Files(to, m.Cwd)[0]})
		}
	}
	return out
}

// rulesOf reads the rules of a client that runs in cwd.
func rulesOf(a *formats.Allowed, on formats.Machine, cwd string) (out []allowRule) {
	for _, file := range a.Files(on, cwd) {
		for _, text := range settings.Texts(settings.Read(file), maxRules, a.Member...) {
			if r, ok := parseRule(a, text); ok {
				r.file = file
				out = append(out, r)
			}
		}
	}
	return out
}

// parseRule reads a rule that names a shell: Bash, Bash(git diff), Bash(git diff:*).
func parseRule(a *formats.Allowed, rule string) (r allowRule, ok bool) {
	if rule == a.Tool {
		return r, true
	}
	inner, ok := strings.CutPrefix(rule, a.Tool+"(")
	inner, closed := strings.CutSuffix(inner, ")")
	r.words = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(inner, "*"), ":"))
	r.exact = a.Rest != "" && r.words == inner
	return r, ok && closed && len(r.words) <= maxRule && !strings.ContainsAny(r.words, "*?[]{}()\"'`$\\|&;<>")
}

// matches reports whether a command begins with the words of a rule, or is them. A rule
// without words is one for all commands.
func (r allowRule) matches(command string) bool {
	rest, ok := strings.CutPrefix(command, r.words)
	return ok && (rest == "" || !r.exact && (r.words == "" || rest[0] == ' '))
}
