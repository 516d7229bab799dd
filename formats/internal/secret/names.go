package secret

import (
	"bytes"
	"slices"
	"strings"
)

// pattern is an ending that names of credentials have in common, in small
// letters and without - _ and dots.
type pattern struct {
	ending string
	called string // in reports, which repeat no foreign name
	word   bool   // only where a word begins: openAIKey, api_key, not turkey
	deep   bool   // what it names can be an object or a list, too
}

// patterns are tried in turn.
var patterns = [...]pattern{
	{ending: "password", called: "…password", deep: true},
	{ending: "passwd", called: "…password", deep: true},
	{ending: "passphrase", called: "…password", deep: true},
	{ending: "secret", called: "…secret", deep: true},
	{ending: "secrets", called: "…secret", deep: true},
	{ending: "credential", called: "…credentials", deep: true},
	{ending: "credentials", called: "…credentials", deep: true},
	{ending: "apikey", called: "…key", deep: true},
	{ending: "accesskey", called: "…key", deep: true},
	{ending: "privatekey", called: "…key", deep: true},
	{ending: "secretkey", called: "…key", deep: true},
	{ending: "encryptionkey", called: "…key", deep: true},
	{ending: "accesstoken", called: "…token", deep: true},
	{ending: "refreshtoken", called: "…token", deep: true},
	{ending: "authtoken", called: "…token", deep: true},
	{ending: "authorization", called: "…authorization"},
	{ending: "token", called: "…token", word: true},
	{ending: "key", called: "…key", word: true},
}

// ordinary are names that end so and open nothing: what a thing is filed under,
// a place to go on from, a key on a keyboard.
var ordinary = [...]string{
	"publickey", "cachekey", "storagekey", "sortkey", "groupkey", "contextkey", "primarykey", "foreignkey", "partitionkey", "idempotencykey",
	"hotkey", "shortcutkey", "statekey", "viewkey", "itemkey", "titlekey", "messagekey", "labelkey", "settingkey", "configkey", "workspacekey",
	"repokey", "filekey", "pathkey", "modelkey", "featurekey", "experimentkey", "lookupkey", "objectkey",
	"pagetoken", "continuationtoken", "synctoken", "deltatoken", "cancellationtoken", "colortoken", "designtoken", "stoptoken", "endtoken",
}

// longestName is more than any program calls a member.
const longestName = 64

// credential is the pattern that a member's name follows; ok is false if none. A path,
// a sentence or a name of many words names no credential.
func credential(name []byte) (p pattern, ok bool) {
	if len(name) < len("key") || len(name) > longestName {
		return p, false
	}
	var room [longestName]byte
	plain := room[:0]
	for _, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c == '-' || c == '_' || c == '.':
			continue
		case c|0x20 < 'a' || c|0x20 > 'z':
			if c < '0' || c > '9' {
				return p, false
			}
		}
		plain = append(plain, c)
	}
	for _, p := range patterns {
		if strings.HasSuffix(string(plain), p.ending) {
			return p, (!p.word || wordAt(name, len(p.ending))) && !isOrdinary(string(plain))
		}
	}
	return p, false
}

// wordAt reports whether a word begins so many letters before the end. A map's
// own "key" is no name of one; a "token" is.
func wordAt(name []byte, n int) bool {
	at := len(name) - n
	if at <= 0 {
		return at == 0 && n == len("token")
	}
	before, first := name[at-1], name[at]
	return before == '-' || before == '_' || before == '.' || first >= 'A' && first <= 'Z'
}

func isOrdinary(plain string) bool {
	for _, o := range ordinary {
		if strings.HasSuffix(plain, o) {
			return true
		}
	}
	return false
}

// hides reports whether a value can be what the name says.
func (p pattern) hides(value []byte) bool {
	switch value[0] {
	case '"':
		return true
	case '{', '[':
		return p.deep && len(value) > len("{}")
	}
	return false
}

// match says which member of JSON holds a secret, to rawjson.Find: what one
// of memberNames is called, or the ending of a pattern.
func match(depth int) func(name []byte, at int) string {
	return func(name []byte, at int) string {
		for _, n := range memberNames() {
			if len(n) == len(name) && hasPrefix(name, n) {
				return n
			}
		}
		if at <= depth {
			if p, ok := credential(name); ok {
				return p.ending
			}
		}
		return ""
	}
}

// patternOf is the pattern that match named; none for one of memberNames.
func patternOf(ending string) (p pattern, ok bool) {
	i := slices.IndexFunc(patterns[:], func(p pattern) bool { return p.ending == ending })
	if i < 0 {
		return p, false
	}
	return patterns[i], true
}

// Credential reports whether a member of a client's own record, in which nobody
// says anything, is a credential by its name and can be one by its value.
func Credential(name string, value []byte) bool {
	p, ok := credential([]byte(name))
	return ok && !harmless(value) && p.hides(value)
}

// keyNamed is the pattern of a row's key that ends in a credential's name.
func keyNamed(key []byte) (pattern, bool) {
	text := string(key)
	return credential([]byte(text[strings.LastIndexAny(text, "/:|")+1:]))
}

// MayName reports whether text that is no JSON may hold a credential: a name of
// one, in quotes, stands before a colon and something that can be one.
func MayName(text []byte) bool {
	text = unescaped(text)
	for at := 0; at < len(text); at++ {
		i := bytes.IndexByte(text[at:], '"')
		if i < 0 {
			return false
		}
		at += i
		after := bytes.TrimLeft(text[at+1:min(len(text), at+64)], " \t\r\n")
		if len(after) == 0 || after[0] != ':' {
			continue
		}
		from := max(0, at-longestName-1)
		name := text[from+bytes.LastIndexByte(text[from:at], '"')+1 : at]
		value := bytes.TrimLeft(after[1:], " \t\r\n")
		if p, ok := credential(name); ok && (len(value) == 0 || p.hides(value)) {
			return true
		}
	}
	return false
}
