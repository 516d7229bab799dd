package redact

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strings"

	"rehome/convert/internal/leaks"
)

// Find returns the values in bytes, in their order.
func (r *Redactor) Find(ctx context.Context, b []byte, as Form) []Finding {
	s, ok := r.searches.Get().(*search)
	if !ok {
		s = &search{Redactor: r}
	}
	s.ctx = ctx
	s.value(b, as, 0)
	found := s.found
	s.ctx, s.found = nil, nil
	trim(s.decoded)
	r.searches.Put(s)
	return found
}

// search is one call of Find.
type search struct {
	*Redactor
	ctx     context.Context
	found   []Finding
	decoded [][]byte // buffers, by depth
	clean   runCache // runs in which there is nothing to find
}

func (s *search) value(b []byte, as Form, depth int) {
	if len(b) < gram || depth > maxDepth || s.ctx.Err() != nil {
		return
	}
	if as == Text {
		s.text(b, depth)
		return
	}
	if as == Protobuf && isMessage(b) && !isProse(b) {
		s.message(b, depth)
		return
	}
	if img, ok := parseImage(b); ok {
		for _, p := range img.parts {
			for _, text := range p.texts {
				s.text(text, depth+1)
			}
		}
		return
	}
	if !isText(b) {
		if order := wideOrder(b); order != nil {
			s.text(decodeWide(b, order), depth+1)
			return
		}
		if isMessage(b) {
			s.message(b, depth)
			return
		}
	}
	s.text(b, depth)
}

func (s *search) message(b []byte, depth int) {
	for i := 0; i < len(b); {
		f, _ := nextField(b, i)
		if i = f.to; f.bytes {
			body := b[f.body:f.to]
			s.value(body, formOf(body), depth+1)
		}
	}
}

func (s *search) text(b []byte, depth int) {
	s.scanner.Scan(s.ctx, b, func(h leaks.Hit) {
		s.add(h.Rule, normal(nil, b[h.Offset:h.Offset+h.Length]))
	})
	if len(s.patterns) > 0 || s.paths {
		s.strings(b, 0)
	}
	for run := range runs(b) {
		for len(s.decoded) <= depth {
			s.decoded = append(s.decoded, nil)
		}
		if s.clean.has(run.digits, depth) {
			continue
		}
		before := len(s.found)
		for p := range run.parts() {
			one := run
			one.digits = run.digits[p.from:p.to]
			if b, _, ok := p.decode(s.decoded[depth], &one); ok && !p.shifted {
				s.decoded[depth] = b[:0]
				s.value(b, Unknown, depth+1)
			}
		}
		if len(s.found) == before && s.ctx.Err() == nil {
			s.clean.add(run.digits, depth)
		}
	}
}

// strings looks for patterns and user names in a text. In JSON, it looks at each string by
// itself, as each is replaced by itself: a pattern must not reach from one into the next.
func (s *search) strings(b []byte, depth int) {
	trimmed := bytes.TrimLeft(b, " \t\r\n")
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[' || trimmed[0] == '"') && depth < maxDepth {
		if json.Valid(b) {
			for text := range jsonStrings(b) {
				if bytes.IndexByte(text, '\\') >= 0 {
					text = unquote(text)
				}
				s.strings(text, depth+1)
			}
			return
		}
		for line := range bytes.Lines(b) { // of which some are JSON
			if len(line) < len(b) && json.Valid(line) {
				s.strings(line, depth+1)
			}
		}
	}
	plain := b
	if bytes.ContainsAny(b, `\%`) {
		plain = unescaped(nil, b)
	}
	for _, p := range s.patterns {
		for _, at := range p.FindAllIndex(plain, -1) {
			s.add(patternKind, normal(nil, plain[at[0]:at[1]]))
		}
	}
	if s.paths {
		s.users(b)
	}
}

// jsonStrings yields the strings of valid JSON as they are spelled, without quotes.
func jsonStrings(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; i < len(b); i++ {
			if b[i] != '"' {
				continue
			}
			from := i + 1
			for i = from; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if !yield(b[from:i]) {
				return
			}
		}
	}
}

// add adds a value unless it is a placeholder already.
func (s *search) add(kind string, text []byte) {
	if len(text) >= gram && !s.isPlaceholder(kind, text) {
		s.found = append(s.found, Finding{kind, string(text)})
	}
}

// homes are home folders in paths, in every spelling of a slash.
var homes = regexp.MustCompile(`(?:(?:/|\\+/?|%2[Ff]|%5[Cc])(?:home|Users)|[A-Za-z]:(?:\\+|%5[Cc])users)(?:/|\\+/?|%2[Ff]|%5[Cc])((?:[\pL\pN]|%[89A-Fa-f][0-9A-Fa-f])(?:[\pL\pN._-]|%[89A-Fa-f][0-9A-Fa-f])*)`)

// users adds the names of the home folders in a text.
func (s *search) users(b []byte) {
	for _, m := range homes.FindAllSubmatch(b, -1) {
		name := strings.TrimRight(string(normal(nil, m[1])), "._-")
		if !slices.Contains(anybody(), strings.ToLower(name)) {
			s.add(userKind, []byte(name))
		}
	}
}

// anybody returns names that identify nobody: of accounts of machines and programs, and of
// examples in documents, which can also be names in formats.
func anybody() []string {
	return strings.Fields("admin agent all app assistant claude codex coder content cursor data file foo human id input message model name output path result role sandbox session status system text title tool type version build default dev docker git guest home linuxbrew me node public root runner runneradmin shared test ubuntu user username users vscode work you your-name yourname")
}
