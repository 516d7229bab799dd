package codex

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// settled lists the members of records that do not become messages: what they say is in the
// turn, or in the message that they repeat. leaves.txt gives the reasons.
var settled = [...]struct{ kinds, members string }{
	{" task_started turn_started ", "type turn_id root_turn_id started_at model_context_window collaboration_mode_kind"},
	{" task_complete turn_complete turn_aborted ", "type turn_id root_turn_id last_agent_message reason started_at completed_at duration_ms"},
	{" token_count ", "type info rate_limits"},
	{" thread_rolled_back ", "type num_turns"},
	{" user_message agent_message ", "type message images kind"},
	{" agent_reasoning agent_reasoning_raw_content ", "type text"},
	{" UserMessage AgentMessage ", "type id content"},
	{" Reasoning ", "type id summary_text raw_content"},
	{" web_search_end ", "type call_id query"},
	{" ContextCompaction ", "type id"},
	{" thread_settings_applied ", "type thread_id thread_settings"},
	{" token_usage_record ", "thread_id turn_id session_id root_turn_id response_id usage turn_token_usage thread_token_usage"},
	{" view_image_tool_call ImageView ", "type id call_id path"},
	{" world_state ", "full state"},
	{" state ", "record_type"},
}

// rest returns what else such a record states.
func (r *record) rest() []session.Extra {
	kind, body := r.reported()
	if r.kind != "event_msg" {
		kind = r.kind
	}
	for _, s := range settled {
		var o members.Object
		if !listed(s.kinds, kind) || !o.Split(body, kind+".", strings.Fields(s.members)) {
			continue
		}
		out := append(o.Extras, r.outer()...)
		for b := range rawjson.Elements(at(body, "content")) {
			if o.Split(b, kind+".content.", []string{"type", "text", "image_url", "path"}) {
				out = append(out, o.Extras...)
			}
		}
		return slices.DeleteFunc(out, func(x session.Extra) bool { return members.Empty(x.Raw) })
	}
	return nil
}

// outer returns what the line of a record states besides what it holds, which is in body.
func (r *record) outer() (out []session.Extra) {
	var o members.Object
	if r.sub == "item_completed" && o.Split(r.body, "", []string{"type", "thread_id", "turn_id", "item", "started_at_ms", "completed_at_ms"}) {
		out = o.Extras
	}
	if len(r.body) != len(r.Object) && o.Split(r.Object, "", []string{"timestamp", "ordinal", "type", "payload"}) {
		out = append(out, o.Extras...)
	}
	return out
}

// unanswered hands out what events said of calls that have no result.
func (d *decoder) unanswered() {
	for _, m := range slices.SortedFunc(maps.Values(d.waiting), func(a, b *report) int { return cmp.Compare(a.n, b.n) }) {
		if m.n > 0 && !d.over {
			d.hand(m.Message)
		}
	}
}

// report is what an event says of a call before its result, as a message of its own.
type report struct {
	*session.Message
	n int // the record; 0 if there is none
}
