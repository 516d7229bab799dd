package leaves

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// Declared are the declarations of a codec.
type Declared struct {
	Kinds []string // paths of the discriminators; "a|b" is the first of two that is there
	list  []*Declaration
}

// Declaration says of the leaves that a pattern matches what becomes of them.
type Declaration struct {
	Verb    string // one of Verbs
	Of      string // who speaks, how it is derived, or the code of the loss
	Reason  string
	Pattern string
	By      string // a pattern of leaves with the same value, which arrive

	leaf, by pattern
	text     *regexp.Regexp // of what is invented, if somebody says it
}

// Verbs lists what a declaration can say of a leaf, and with which words.
//
//	said WHO          a person, a model or a tool says it: only a part of theirs counts
//	told WHERE        in a telling whose name begins so it must be, too; WHERE@root: unless
//	                  a subagent has it; WHERE@turn: unless it is
//	                  a prompt that begins no turn, or a notice
//	member NAME       it is this member of a record, such as turn.model, and not in extra data alone
//	client            if it is true, no user says what is in its record
//	calls             it is the id of a call, whose record or element has the arguments
//	answers           it is the id of the call that a result is of, whose record or element has what it says
//	derived HOW       what arrives is another form of it, which the law computes
//	superseded        the same value arrives from another leaf
//	quoted            the value arrives within the text of another leaf
//	kept FILE         somebody says it, and it is in extra data: no client writes what is in this fixture
//	lost CODE         a loss of this code names the record
//	dropped           it does not arrive
//	secret            it is a secret, and never does
//	copied            a writer repeats a value of the session, a line of one, or the name of a member
//	invented          a writer makes it: no session has it
func Verbs() []string {
	return []string{"said", "told", "member", "client", "calls", "answers", "derived", "superseded", "quoted", "kept", "lost", "dropped", "secret", "copied", "invented"}
}

// ParseDeclared reads the text of leaves.txt:
//
//	kinds type payload.type
//
//	said user
//		response_item message payload.content[].text
//
//	superseded An event repeats what the model was sent.
//		event_msg user_message payload.message by response_item message payload.content[].text
//
//	dropped Codex counts records. Their order is kept.
//		* * ordinal
//
// The first line names the discriminators. A declaration begins with its verb, the verb's word
// if it has one, and the reason. Each indented line is a pattern: for each discriminator its
// value, "a|b" for several, "!a|b" for all others or "*" for any, and then a path, in which "*" is part of a name and "**" any
// part of the path. After "=" stands, for what is invented, a regular expression that its text matches;
// each white space in that is one blank. Lines that begin with # are comments.
func ParseDeclared(text string) (*Declared, error) {
	d := &Declared{}
	var head *Declaration
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		err := errors.New("a pattern without a declaration")
		switch {
		case d.Kinds == nil && words[0] == "kinds":
			d.Kinds, err = append([]string{}, words[1:]...), nil
		case d.Kinds == nil:
			err = errors.New("the first line must name the kinds")
		case line[0] != '\t':
			head, err = parseHead(words)
		case head != nil:
			one := *head
			if err = one.parse(words, len(d.Kinds)); err == nil {
				d.list = append(d.list, &one)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return d, nil
}

func parseHead(words []string) (*Declaration, error) {
	d := &Declaration{Verb: words[0]}
	words = words[1:]
	switch d.Verb {
	case "said", "told", "member", "derived", "kept", "lost":
		if len(words) == 0 {
			return nil, fmt.Errorf("%s needs a word", d.Verb)
		}
		d.Of, words = words[0], words[1:]
	}
	d.Reason = strings.Join(words, " ")
	how, _, _ := strings.Cut(d.Of, "@")
	switch {
	case !slices.Contains(Verbs(), d.Verb):
		return nil, fmt.Errorf("%q is not one of %s", d.Verb, strings.Join(Verbs(), ", "))
	case d.Verb == "said" && len(speakers(d.Of)) == 0:
		return nil, fmt.Errorf("nobody is %q", d.Of)
	case d.Verb == "derived" && !strings.HasPrefix(d.Of, "is:") && !strings.HasPrefix(d.Of, "as:") && !slices.Contains(Transforms(), how):
		return nil, fmt.Errorf("%q is not one of %s", d.Of, strings.Join(Transforms(), ", "))
	case d.Excuses() && d.Reason == "":
		return nil, fmt.Errorf("%s without a reason", d.Verb)
	}
	return d, nil
}

// Excuses reports whether a declaration says why a leaf does not arrive as it is.
func (d *Declaration) Excuses() bool {
	return !slices.Contains([]string{"said", "told", "member", "client", "calls", "answers"}, d.Verb)
}

// repeats reports whether a declaration says that another leaf has the value.
func (d *Declaration) repeats() bool { return d.Verb == "superseded" || d.Verb == "quoted" }

// parse reads a line with a pattern.
func (d *Declaration) parse(words []string, kinds int) (err error) {
	if at := slices.Index(words, "="); at >= 0 {
		if d.text, err = regexp.Compile("^(?:" + strings.Join(words[at+1:], " ") + ")$"); err != nil {
			return err
		}
		words = words[:at]
	}
	by := slices.Index(words, "by")
	if by < 0 {
		by = len(words)
	}
	d.Pattern = strings.Join(words[:by], " ")
	if d.leaf, err = parsePattern(words[:by], kinds); err != nil {
		return err
	}
	if d.repeats() != (by < len(words)) {
		return fmt.Errorf("%q: only what is superseded or quoted is so by another pattern", d.Pattern)
	}
	if by < len(words) {
		d.By = strings.Join(words[by+1:], " ")
		d.by, err = parsePattern(words[by+1:], kinds)
	}
	return err
}

// All yields the declarations in their order.
func (d *Declared) All() iter.Seq[*Declaration] { return slices.Values(d.list) }

// pattern is a pattern of leaves.
type pattern struct {
	not   []bool // kinds are those that do not match
	kinds [][]string
	path  *regexp.Regexp
}

func parsePattern(words []string, kinds int) (p pattern, err error) {
	if len(words) != kinds+1 {
		return p, fmt.Errorf("%q: want %d words and a path", strings.Join(words, " "), kinds)
	}
	for _, w := range words[:kinds] {
		others, not := strings.CutPrefix(w, "!")
		p.kinds, p.not = append(p.kinds, strings.Split(others, "|")), append(p.not, not)
	}
	path, before, after := regexp.QuoteMeta(words[kinds]), "^", "$"
	if rest, ok := strings.CutPrefix(path, `\*\*\.`); ok {
		path, before = rest, `^(?:.*\.)?`
	}
	if rest, ok := strings.CutSuffix(path, `\.\*\*`); ok {
		path, after = rest, `(?:[.[].*)?$`
	}
	path = before + strings.NewReplacer(`\*\*`, `.*`, `\*`, `[^.]*`, `\{`, `(?:`, `\}`, `)`, `,`, `|`).Replace(path) + after
	p.path, err = regexp.Compile(path)
	return p, err
}

func (p *pattern) matches(kind []string, path string) bool {
	for i, k := range kind {
		if slices.ContainsFunc(p.kinds[i], func(want string) bool { return want == "*" || want == k }) == p.not[i] {
			return false
		}
	}
	return p.path.MatchString(path)
}
