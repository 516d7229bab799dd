package redact

// Secrets returns how many different values were found by the rules for secrets.
func (r *Redactor) Secrets() (n int) {
	for _, v := range r.list {
		if v.secret() {
			n++
		}
	}
	return n
}
