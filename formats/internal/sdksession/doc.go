// Package sdksession makes sessions of what the Cursor SDK keeps of its agents,
// whichever kind of store it lies in. It knows no files: a codec gives it
// documents (sdkdoc), blobs (agentstate) and transcripts.
//
// One agent is one session, merged from three sources, none of which has
// everything:
//
//	checkpoints   prompts, whole calls and results, context, thinking as signed:
//	              the spine wherever they are there
//	runs, events  models, times, usage, statuses, errors; what a run said and did
//	              before it was cancelled or failed, which no checkpoint has
//	transcript    prompts at least, where both others are gone
//
// A run is a turn. One that no checkpoint has, such as one that was cancelled or failed, is
// not sent to the model again: it is a branch beside the conversation. Only where no turn is
// in a checkpoint are runs the conversation. They find each other by request id; else by a tool call, a
// prompt or a checkpoint that both know; else by their order between those that
// have found each other. Events of a run whose turn is in the checkpoints only
// add: what says the same, blanks apart, is claimed and not said twice. They are
// put where they happened, between the parts that both sources know.
//
// What is added says where it is from (session.Source): "events" for all of the
// catalog, "transcript".
//
// A run that was queued and never began is no turn: the SDK makes one with each
// agent. It rides along among the Extras of the session. The text of a run's
// result is its last text again, and stands for it where nothing else does.
//
// Memory: the index holds 32 bytes an event and about 300 a run; of a turn it
// holds about 150 bytes for each of its texts and calls, and their content one
// message at a time. An event is read twice, a document once.
package sdksession

// The sources of parts that do not come from the checkpoints.
const fromEvents = "events"
