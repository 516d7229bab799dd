// Package search finds sessions by what was said in them.
//
// A [Query] is a list of terms, and a message matches if each of them is in it. There
// is no index: [Run] first searches the stored bytes of each session for a literal
// that every match must contain, which is much faster than decoding, and decodes only
// the sessions that have it. The stored bytes can contain the literal where the text
// does not, but never the other way around: where a format cannot tell which bytes its
// text comes from, its sessions are decoded.
package search
