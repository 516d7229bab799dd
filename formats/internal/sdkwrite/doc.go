// Package sdkwrite writes sessions of any client as agents of the Cursor SDK.
//
// # A draft
//
// A session and its subagents are one agent. Its draft is a folder with the files of the
// SDK's line store and the transcript that the SDK writes next to it:
//
//	agents.ndjson        the agent
//	runs.ndjson          a run for each turn
//	run_events.ndjson    what a program that streamed the run would have seen
//	checkpoints.ndjson   the blobs of the conversation (package agentwrite)
//	agent-transcripts/…  a readable copy
//
// All of it is written in one pass over the messages, except the last run and the agent:
// they name the root of the conversation, which exists only once all subagents are
// written. No other run names a root, because a root for each run would take space that
// grows with the square of the number of turns.
//
// Join reads many drafts as the documents of one store, which cursor-ndjson and
// cursor-sdk create as they do in an exact conversion.
//
// # What events repeat
//
// Events say less than checkpoints: no results of tools that the SDK does not stream,
// and only some members of arguments and results (events.txt). What they say must stand
// in the checkpoints, too, or a reader takes it for something that only the events know.
// Package sdksession reads both as one session.
package sdkwrite
