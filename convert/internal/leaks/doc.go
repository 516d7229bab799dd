// Package leaks finds what looks like a credential in bytes: tokens, keys,
// passwords that somebody pasted into a conversation or that a tool printed.
//
// What a credential looks like is not our knowledge. The rules are those of
// gitleaks: its words, expressions, entropy bounds and allow lists, as its own
// loader understands them. They are embedded as data, in gitleaks/rules.json,
// since its module would link an HTTP client and 128 packages for them. The
// module in upstream writes that file and compares it with gitleaks; `make
// rules` updates it.
//
// The search is our own, since sessions are large and mostly prose:
//
//   - one pass over all bytes looks for the words that some rule begins with or
//     asks for (an Aho-Corasick automaton);
//   - at each word the rest of the rule's expression is tried, once and from
//     there, on as few bytes as it takes to fail;
//   - only where that succeeds does the whole expression run, over the
//     neighborhood, followed by entropy and allow lists.
//
// Bytes are read as if they were the inside of JSON, to any depth of JSON in
// JSON: a newline is \n or \\n there, and a token behind it begins a word all
// the same. Offsets are always those of the bytes given.
//
// The secret never leaves the package: a Hit says where, not what.
//
// What is encoded as a whole, in base64 or in hexadecimal, is opaque here: the
// caller decodes it first.
//
// What differs from gitleaks: rules bound to a file's name are left out, since
// records have none; a word that need not be part of what it announces must
// stand within some hundred bytes, not just in the same file; of several rules
// that claim the same bytes one is told; a comment that allows a leak does not;
// and the rule for generic keys does not take digests and ids for keys, of which
// sessions are full.
package leaks
