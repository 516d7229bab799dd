// Package watch keeps a target up to date while clients write to its source: a loop
// around convert with Options.Update.
//
// A round has these steps:
//
//	wait    for an event of the file system, or until it is time to look anyway
//	settle  wait until nothing has changed for a moment, but not for ever
//	look    at names, sizes and times below the source; go on if they are new
//	update  the target; each store is updated completely or not at all
//	report  what changed, as Events
//
// Events are only hints: they are lost when queues overflow, and many file systems
// have none. What decides is the look, which is also taken without an event, more
// often where there are none. So a log that is rotated, a file that is replaced and a
// store that vanishes and comes back need no cases of their own.
//
// A round that fails is repeated after a delay that doubles up to a minute. A failure
// is reported once, until it changes or is over.
package watch
