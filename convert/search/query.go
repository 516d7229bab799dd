package search

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rehome/formats"
)

// Query is what to search for. It can be used by several goroutines.
type Query struct {
	terms   []term
	request string
}

// term is a pattern that a message must match.
type term struct {
	re *regexp.Regexp
	// raw are literals one of which is in the stored bytes of every text that matches;
	// nil if there is no such list.
	raw []*needle
}

// Case says whether upper and lower case are distinguished.
type Case uint8

// SmartCase distinguishes them in terms that contain an upper case letter.
const (
	SmartCase Case = iota
	IgnoreCase
)

// maxTerms is the max number of terms of a query: each has a bit in a mask.
const maxTerms = 64

// NewQuery returns the query for words, each of which can be a phrase, and regular
// expressions in the syntax of package regexp. White space in a phrase matches any
// white space.
func NewQuery(words, exprs []string, c Case) (*Query, error) {
	q := &Query{}
	for _, w := range words {
		fields := strings.Fields(w)
		if len(fields) == 0 {
			return nil, errors.New("empty search term")
		}
		for i := range fields {
			fields[i] = regexp.QuoteMeta(fields[i])
		}
		if err := q.add(strings.Join(fields, `\s+`), w, c); err != nil {
			return nil, err
		}
	}
	for _, e := range exprs {
		if err := q.add(e, withoutEscapes(e), c); err != nil {
			return nil, err
		}
	}
	switch {
	case len(q.terms) == 0:
		return nil, errors.New("nothing to search for")
	case len(q.terms) > maxTerms:
		return nil, fmt.Errorf("more than %d search terms", maxTerms)
	}
	return q, nil
}

// NewRequestQuery returns the query for the turn with a client's id: the id of the
// request that a model answered, or of the turn or a message itself.
func NewRequestQuery(id string) (*Query, error) {
	if id == "" {
		return nil, errors.New("empty request id")
	}
	q := &Query{request: id}
	return q, q.add(regexp.QuoteMeta(id), "I", SmartCase) // ids have no variants in another case
}

// add adds a term. spelled shows in which case the user wrote it.
func (q *Query) add(expr, spelled string, c Case) error {
	if !utf8.ValidString(expr) {
		return fmt.Errorf("search term %q is not valid UTF-8", spelled)
	}
	flags := "(?m)"
	if c == IgnoreCase || strings.IndexFunc(spelled, unicode.IsUpper) < 0 {
		flags = "(?im)"
	}
	re, err := regexp.Compile(flags + expr)
	if err != nil {
		err = errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), flags, ""))
		return &formats.Error{At: expr, Err: fmt.Errorf("invalid regular expression: %w", err), Hint: "use the syntax of Go and RE2; quote special characters with a backslash"}
	}
	if re.MatchString("") {
		return &formats.Error{At: expr, Err: errors.New("matches empty text, and so everything")}
	}
	q.terms = append(q.terms, term{re, needles(re)})
	return nil
}

// withoutEscapes returns a regular expression without its escapes, in which the case
// of letters is not that of the text: \S and \pL.
func withoutEscapes(expr string) string {
	var out strings.Builder
	for i := 0; i < len(expr); i++ {
		if expr[i] != '\\' {
			out.WriteByte(expr[i])
		} else if i++; i+1 < len(expr) && (expr[i] == 'p' || expr[i] == 'P') {
			if i++; expr[i] == '{' {
				i += max(0, strings.IndexByte(expr[i:], '}'))
			}
		}
	}
	return out.String()
}

// scan returns a Scan for the terms.
func (q *Query) scan() *formats.Scan {
	all, found, span := uint64(0), uint64(0), 0
	for i, t := range q.terms {
		all |= 1 << i
		if t.raw == nil {
			found |= 1 << i
		}
		for _, n := range t.raw {
			span = max(span, n.span)
		}
	}
	return formats.NewScan(all, found, span, func(b []byte) (terms uint64) {
		for i, t := range q.terms {
			if slices.ContainsFunc(t.raw, func(n *needle) bool { return n.in(b) }) {
				terms |= 1 << i
			}
		}
		return terms
	})
}
