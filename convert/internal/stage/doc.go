// Package stage builds targets under temporary names and renames them into place,
// so that a target appears at once and complete, or not at all.
//
// A [Target] is a path that was resolved once. A [Folder] is the private folder
// beside it, on the same disk, in which it is built. [Renames] moves what was
// built to its place, never over anything that exists, and can undo that. The
// package knows names, renames, permissions and syncs; it knows no format.
package stage
