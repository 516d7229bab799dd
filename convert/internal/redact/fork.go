package redact

// Fork returns a Redactor for another store, which knows what r knows. They share the rules,
// which take long to load.
func (r *Redactor) Fork() *Redactor {
	out := &Redactor{
		scanner: r.scanner, placeholders: r.placeholders, patterns: r.patterns, paths: r.paths, key: r.key,
		known: index{byGram: map[uint32][]spelling{}}, values: map[string]*value{}, kinds: map[string]int{},
	}
	texts := make(map[*value]string, len(r.values))
	for text, v := range r.values {
		texts[v] = text
	}
	for _, v := range r.list {
		out.Add([]Finding{{v.kind, texts[v]}})
	}
	return out
}
