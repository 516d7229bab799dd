// Package sidecar keeps the states of Cursor's agents beside canonical text, as the very
// blobs that hold them: the text is a translation, from which Cursor's stores can only be
// rebuilt. A state is used only if the text is still the one that was made from it, and
// shows all that the state says.
//
// A sidecar is text, too: one JSON object per line. After the header, a line for each
// session with a state, the blobs of the state, each before the one that refers to it,
// and a line for each of its subagents:
//
//	{"rehome":"sidecar","version":1,"of":"canonical"}
//	{"session":ID,"agent":…,"lines":DIGEST,"root":BLOB,"extras":N,"partial":true}
//	{"blob":BLOB,"text":…}
//	{"blob":BLOB,"base64":…}
//	{"session":ID,"agent":…,"within":SESSION,"lines":DIGEST,"root":BLOB,…}
//
// Sidecars can be joined like the text that they belong to: a header can be repeated.
//
// [Recorder] writes sidecars. [Text] reads them: it has the digests of all sessions of the
// text, and so finds out which of them were edited.
package sidecar
