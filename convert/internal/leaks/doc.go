// Package leaks finds what looks like a credential in bytes: tokens, keys,
// passwords that somebody pasted into a conversation or that a tool printed.
//
// The rules are those of gitleaks: its words, expressions, entropy bounds and
// allow lists, as its own loader reads them. They are embedded as data, in gitleaks/rules.json,
// since its module would link an HTTP client and 128 packages for them. The
// module in upstream writes that file and compares it with gitleaks; `make
// rules` updates it. Rules that gitleaks lacks are in own/rules.json, in the same form:
// credentials in URLs, headers, netrc files and the arguments of commands. What they allow
// is what stands in these places in documents and code.
//
// The search differs, since sessions are large and mostly prose:
//
//   - one pass over all bytes looks for words with which matches of some rule
//     begin, or that the rule requires (an Aho-Corasick automaton);
//   - at each word, the rest of the rule's expression is tried once, on as few
//     bytes as it takes to fail;
//   - only if that succeeds does the whole expression run on the surrounding
//     bytes, followed by entropy and allow lists.
//
// Bytes are read as if they were a string in JSON, at any depth of JSON in JSON:
// a newline is \n or \\n there, and a token after it begins a word all the
// same. Offsets are always those of the input.
//
// The secret never leaves the package: a Hit says where, not what.
//
// What is encoded as a whole, in base64 or in hexadecimal, is opaque here: the
// caller decodes it first.
//
// Differences from gitleaks: rules for file names are omitted, since records
// have none; a keyword that need not be part of the match must be within some
// hundred bytes, not just in the same file; of several rules that match the same
// bytes, one is reported; comments that allow a leak are ignored; and the rule for
// generic keys ignores digests and ids, of which sessions are full.
package leaks
