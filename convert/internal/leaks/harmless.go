package leaks

import "regexp"

// harmless recognizes what sessions have by the thousand after words such as
// "key" or "token", and what opens nothing: digests, and ids of records, calls
// and messages.
type harmless struct {
	id             func() *regexp.Regexp
	digest         func() *regexp.Regexp
	credentialName func() *regexp.Regexp
}

func newHarmless() harmless {
	pattern := func(p string) func() *regexp.Regexp {
		return compiled(func() string { return p })
	}
	return harmless{
		id: pattern(`\A(?i:` +
			`(?:msg|req|call|toolu|srvtoolu|tool|fc|rs|resp|item|run|agent|bubble|chatcmpl)[-_][\w-]+` +
			`|sha(?:1|224|256|384|512)[-:=][\w+/=]+` +
			`)\z`),
		digest: pattern(`\A(?i:` +
			`[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}` +
			`|(?:[a-z]+[-_:.])*[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?:[-_:.][\w.-]*)?` +
			`)\z`),
		credentialName: pattern(`(?i)secret|passw|credential|(?:api|access|auth|private)[_.-]?(?:key|token)`),
	}
}

// matches reports whether what follows a name is not a secret. A digest is one
// only if the name says so: api_key, not just key.
func (o harmless) matches(name, secret []byte) bool {
	return o.id().Match(secret) || o.digest().Match(secret) && !o.credentialName().Match(name)
}
