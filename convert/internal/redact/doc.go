// Package redact replaces secrets, words and user names in bytes of any kind,
// so that the result can be shared.
//
// It takes two passes over a store. The first one finds values: by the rules for
// secrets (package leaks), by the patterns of the user, by the home folders in paths.
// The second one replaces each value wherever it is, since a token that is recognized
// by the word before it can be repeated without it. Placeholders are numbered in the
// order in which Add is called, so their numbers do not depend on workers.
//
// A value is known by its normal form, in which escapes of JSON at any depth and
// percent-encoding are undone, see next. So one value has one placeholder, however it
// is spelled. Values are found and replaced in
//
//   - text, JSON and JSON in JSON, as strings and as names of members;
//   - base64 and hexadecimal digits in text, which are encoded again;
//   - protobuf messages, whose lengths are adapted;
//   - UTF-16;
//   - the metadata of images, which is cut out.
//
// Anything else that holds a value is an error, an *Opaque. Bytes that hold no value
// never change.
//
// A placeholder consists of lower-case letters, digits and hyphens, so that it can take
// the place of a value in JSON, a URL, a path or a shell command. It is never replaced
// itself: what was redacted can be redacted again, and stays the same.
//
// No error and no count contains a value.
package redact
