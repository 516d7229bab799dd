// Package sessions lists the sessions that clients keep, on this machine or below some
// paths, and finds them by id, title or folder.
//
// [List] walks the places where stores are, reads the heads of their sessions, and
// merges what several stores hold of one session. A [Listing] is narrowed with
// [Listing.Select] and searched with [Listing.Find]. [Folders] finds the folder of
// sessions whose store does not name it, for listing and decoding alike.
package sessions
