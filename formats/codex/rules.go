package codex

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/rawjson"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Kinds of records that clients are known to write, each between blanks.
const (
	knownLines = " session_meta response_item event_msg turn_context compacted world_state token_usage_record state security_risk_score" +
		" inter_agent_communication inter_agent_communication_metadata dynamic_tools_updated realtime_item "
	knownItems = " message reasoning function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call web_search_call" +
		" tool_search_call tool_search_output image_generation_call ghost_snapshot compaction context_compaction agent_message additional_tools "
	knownEvents = " task_started task_complete turn_started turn_complete turn_aborted token_count item_completed thread_settings_applied" +
		" user_message agent_message agent_reasoning agent_reasoning_raw_content context_compacted thread_rolled_back thread_goal_updated" +
		" entered_review_mode exited_review_mode mcp_tool_call_end exec_command_end patch_apply_end view_image_tool_call web_search_end" +
		" image_generation_end sub_agent_activity error thread_name_updated "
)

// check asks each rollout what the rules ask.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	f, err := open(l)
	if err != nil {
		return failure(ctx, l.Path, err)
	}
	defer f.root.Close()
	for _, e := range append(f.wanted(), f.older...) {
		if f.only != "" && e.path != f.only {
			continue
		}
		a := &audit{f: f, e: e, q: q, calls: map[string]int{}}
		if slices.Contains(f.older, e) {
			a.say("RH491", 0, "", "")
		}
		o := linecheck.Options{Format: name, Most: maxLine, Packed: strings.HasSuffix(e.path, ".zst"), Odd: func(int) { a.gap = true }}
		for line, err := range linecheck.Lines(ctx, filepath.Join(f.root.Name(), filepath.FromSlash(e.path)), e.shown, v, q, o) {
			if err != nil {
				return failure(ctx, e.path, err)
			}
			r := parse(&lines.Line{Number: line.Number, Bytes: line.Bytes, Ended: true}, e.shown)
			a.line(&r)
		}
		a.end()
	}
	return nil
}

// audit is what is known of one file while it is read.
type audit struct {
	f     *folder
	e     *entry
	q     *rule.Pass
	calls map[string]int // lines of the calls without a result
	n     int            // lines so far
	gap   bool           // a line could not be read
	base  bool           // calls may be in another file
}

func (a *audit) say(id string, line int, pointer, says string, args ...any) {
	if a.q.Enabled(rule.Lookup(id).Layer) {
		a.q.Report(rule.Finding{Rule: id, At: store.Addr{File: a.e.shown, Line: line}, Pointer: pointer, Message: says, Args: args})
	}
}

func (a *audit) line(r *record) {
	if a.n++; a.n == 1 && !a.gap {
		a.first(r)
	}
	known, kind := knownLines, r.kind
	switch r.kind {
	case "response_item":
		known, kind = knownItems, r.sub
	case "event_msg":
		known, kind = knownEvents, r.sub
	}
	if !strings.Contains(known, " "+kind+" ") {
		a.say("RH204", r.at.Line, "", "%q of type %q", rule.Clip(r.kind), rule.Clip(kind))
	}
	id := rawjson.Text(rawjson.Last(r.body, "call_id"))
	switch {
	case r.kind != "response_item" || id == "":
	case strings.HasSuffix(r.sub, "_call"):
		a.calls[id] = r.at.Line
	case strings.HasSuffix(r.sub, "_call_output"):
		if a.calls[id] == 0 && !a.gap && !a.base {
			a.say("RH488", r.at.Line, "/payload/call_id", "call %q", rule.Clip(id))
		}
		delete(a.calls, id)
	}
}

// first asks the line that names the session.
func (a *audit) first(r *record) {
	id := rawjson.Text(rawjson.Last(r.body, "id"))
	if r.kind != "session_meta" || id == "" {
		a.say("RH486", r.at.Line, "", "")
		return
	}
	if _, named := rolloutID(filepath.Base(a.e.path)); named && id != a.e.id {
		a.say("RH490", r.at.Line, "/payload/id", "id %q", rule.Clip(id))
	}
	from := rawjson.Last(r.body, "history_base")
	if a.base = from != nil; !a.base {
		return
	}
	id = rawjson.Text(rawjson.Last(from, "thread_id"))
	end, _ := strconv.ParseInt(string(rawjson.Last(from, "end_byte_offset")), 10, 64)
	base := a.f.named(id)
	if base == nil {
		a.say("RH487", r.at.Line, "/payload/history_base", "session %q", rule.Clip(id))
	} else if info, err := a.f.root.Stat(base.path); err == nil && info.Size() < end && !strings.HasSuffix(base.path, ".zst") {
		a.say("RH487", r.at.Line, "/payload/history_base", "session %q has %v, and %v are needed", rule.Clip(id), rule.Count(info.Size(), "byte"), rule.Count(end, ""))
	}
}

// end asks what only the whole file tells.
func (a *audit) end() {
	var open []string
	for id := range a.calls {
		open = append(open, id)
	}
	slices.SortFunc(open, func(x, y string) int { return cmp.Compare(a.calls[x], a.calls[y]) })
	for _, id := range open {
		a.say("RH489", a.calls[id], "/payload/call_id", "call %q", rule.Clip(id))
	}
}
