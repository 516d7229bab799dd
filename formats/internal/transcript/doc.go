// Package transcript reads agent-transcripts: what Cursor's clients write
// beside their stores for agents to read, one JSON object a line.
//
//	{"role":"user","message":{"content":[{"type":"text","text":"…"}]}}
//	{"role":"assistant","message":{"content":[…,{"type":"tool_use","name","input"}]}}
//	{"type":"turn_ended","status":"success"|"error"|"aborted","error"?}
//	{"type":"metadata","metadata":{…}}          sometimes, as the first line
//	{"type":"error","error":"…"}                of subagents
//
// It is a view and never the whole: no ids, times, models or results, no system
// prompt; thinking stands at the end of the text behind a blank line, unmarked,
// so that nobody can tell it from text, and as [REDACTED] where its provider
// withheld it; context is cut out of prompts, but <user_query> is left. A session is made of it only where nothing better is.
//
// A file is written anew each time, so that a torn line means a copy that was
// torn. Content can be a plain string, and lines can be blank or anything.
package transcript
