// Package diff compares the sessions of two stores, files or folders, of the same
// client or of different ones.
//
// Sessions are matched by id, then by the id that a migration gives them; two sessions
// that are alone on their sides are compared whatever their ids are. What was said and
// done is compared part by part: prompts, answers, reasoning, calls with their results.
// For sessions of one client, so are the details of sessions and messages, such as times
// and token counts. Those of different clients differ in them by nature; so calls are
// compared by kind and main argument, and what a client adds is left out.
//
// CompareRecords compares the records of stores, and text that has none line by line.
//
// Only digests are held of what is the same, and of one pair of sessions at a time. A
// first pass finds the sessions that differ, a second one what differs in each of them, a
// third one reads the text of that.
package diff
