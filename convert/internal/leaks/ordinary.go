package leaks

import "regexp"

// ordinary knows what sessions hold by the thousand behind words such as "key"
// or "token" and what opens nothing: digests and the ids of records, calls and
// messages.
type ordinary struct {
	id        func() *regexp.Regexp
	digest    func() *regexp.Regexp
	confesses func() *regexp.Regexp
}

func newOrdinary() ordinary {
	pattern := func(p string) func() *regexp.Regexp {
		return compiled(func() string { return p })
	}
	return ordinary{
		id: pattern(`\A(?i:` +
			`(?:msg|req|call|toolu|srvtoolu|tool|fc|rs|resp|item|run|agent|bubble|chatcmpl)[-_][\w-]+` +
			`|sha(?:1|224|256|384|512)[-:=][\w+/=]+` +
			`)\z`),
		digest: pattern(`\A(?i:` +
			`[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}` +
			`|(?:[a-z]+[-_:.])*[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?:[-_:.][\w.-]*)?` +
			`)\z`),
		confesses: pattern(`(?i)secret|passw|credential|(?:api|access|auth|private)[_.-]?(?:key|token)`),
	}
}

// is reports whether a secret behind a name is none. A digest is one only where
// the name says so in so many words: api_key, not just key.
func (o ordinary) is(name, secret []byte) bool {
	return o.id().Match(secret) || o.digest().Match(secret) && !o.confesses().Match(name)
}
