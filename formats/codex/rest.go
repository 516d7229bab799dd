package codex

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// settled lists the members of records that do not become messages: what they say is in the
// turn, or in the message that they repeat. leaves.txt gives the reasons. of are the paths of the
// objects that have the members, "" for the record itself. Whatever is not listed is carried.
var settled = [...]struct{ kinds, of, members string }{
	{" task_started turn_started ", "", "type turn_id root_turn_id started_at model_context_window collaboration_mode_kind"},
	{" task_complete turn_complete turn_aborted ", "", "type turn_id root_turn_id last_agent_message reason started_at completed_at duration_ms"},
	{" token_count ", "", "type info rate_limits"},
	{" token_count ", " info ", "total_token_usage last_token_usage last_usage_includes_reasoning model_context_window"},
	{" token_count ", " info.total_token_usage info.last_token_usage ", tokenCounts},
	{" token_count ", " rate_limits ", "limit_id limit_name primary secondary credits plan_type"},
	{" token_count ", " rate_limits.primary rate_limits.secondary ", "used_percent window_minutes resets_at resets_in_seconds"},
	{" token_count ", " rate_limits.credits ", "has_credits unlimited balance"},
	{" token_usage_record ", "", "thread_id turn_id session_id root_turn_id response_id usage turn_token_usage thread_token_usage"},
	{" token_usage_record ", " usage turn_token_usage thread_token_usage ", tokenCounts},
	{" thread_rolled_back ", "", "type num_turns"},
	{" user_message agent_message ", "", "type message images kind"},
	{" agent_reasoning agent_reasoning_raw_content ", "", "type text"},
	{" UserMessage AgentMessage ", "", "type id content"},
	{" UserMessage AgentMessage ", " content ", "type text image_url path"},
	{" Reasoning ", "", "type id summary_text raw_content"},
	{" web_search_end ", "", "type call_id query"},
	{" ContextCompaction ", "", "type id"},
	{" thread_settings_applied ", "", "type thread_id thread_settings"}, // see applied
	{" view_image_tool_call ImageView ", "", "type id call_id path"},
	{" world_state ", "", "full state"},
	{" world_state ", " state ", "agents_md apps_instructions collaboration_mode environments environments_instructions git_attribution host_skills" +
		" model model_catalog plugins_instructions realtime skills"},
	{" world_state ", " state.agents_md ", "directory text"},
	{" world_state ", " state.collaboration_mode ", "mode model instructions"},
	{" world_state ", " state.environments ", "environments current_date timezone filesystem"},
	{" world_state ", " state.environments.environments ", "local"},
	{" world_state ", " state.environments.environments.local ", "cwd status shell"},
	{" world_state ", " state.realtime ", "active"},
	{" world_state ", " state.host_skills state.skills ", "includeInstructions"},
	{" state ", "", "record_type"},
}

const tokenCounts = "input_tokens cached_input_tokens cache_write_input_tokens output_tokens reasoning_output_tokens total_tokens"

// rest returns what else such a record states.
func (r *record) rest() []session.Extra {
	if r.kind == markLine { // it is ours
		return nil
	}
	kind, body := r.reported()
	if r.kind != "event_msg" {
		kind = r.kind
	}
	out, ok := unsettled(nil, kind, "", body)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(append(out, r.outer()...), func(x session.Extra) bool { return members.Empty(x.Raw) })
}

// unsettled appends what an object of a record has besides the members that are settled; false
// if none of them are.
func unsettled(list []session.Extra, kind, of string, b []byte) ([]session.Extra, bool) {
	for _, s := range settled {
		if !listed(s.kinds, kind) || s.of != of && !listed(s.of, of) {
			continue
		}
		var o members.Object
		names := strings.Fields(s.members)
		if !o.Split(b, join(kind, of)+".", names) {
			return list, false
		}
		for i, name := range names {
			at := join(of, name)
			if v := o.Raw(i); v == nil || kind == "thread_settings_applied" {
				continue
			} else if v[0] == '{' {
				var ok bool
				if list, ok = unsettled(list, kind, at, v); !ok {
					o.Keep(i)
				}
			} else if v[0] == '[' {
				for e := range rawjson.Elements(v) {
					if e[0] == '{' {
						list, _ = unsettled(list, kind, at, e)
					}
				}
			}
		}
		return append(list, o.Extras...), true
	}
	return list, false
}

func join(of, name string) string {
	if of == "" || name == "" {
		return of + name
	}
	return of + "." + name
}

// applied takes what a thread_settings_applied states. Settings are of the next turn, which
// mostly repeats them.
func (o *outline) applied(t *session.Turn, r *record) {
	raw := rawjson.At(r.body, "thread_settings")
	var x members.Object
	if !x.Split(raw, settingsPath, nil) && raw != nil {
		x.KeepAs("", raw)
	}
	for _, e := range x.Extras {
		if !slices.ContainsFunc(o.settings, func(old session.Extra) bool { return old.Name == e.Name && bytes.Equal(old.Raw, e.Raw) }) {
			o.settings = append(o.settings, e)
		}
	}
	o.confirm(t)
}

const settingsPath = "thread_settings_applied.thread_settings."

// confirm forgets the settings that a turn_context or the session_meta states.
func (o *outline) confirm(t *session.Turn) {
	o.settings = slices.DeleteFunc(o.settings, func(e session.Extra) bool {
		name := strings.TrimPrefix(e.Name, settingsPath)
		switch name {
		case "model":
			return rawjson.Text(e.Raw) == t.Model
		case "model_provider_id":
			return bytes.Equal(e.Raw, rawjson.At(o.first, "model_provider"))
		case "runtime_workspace_roots":
			return bytes.Equal(e.Raw, rawjson.At(o.first, name))
		case "requested_approvals_reviewer":
			name = "approvals_reviewer"
		}
		return members.Empty(e.Raw) || slices.ContainsFunc(o.stated, func(s session.Extra) bool {
			return s.Name == "turn_context."+name && bytes.Equal(e.Raw, s.Raw)
		})
	})
}

// settle gives a turn the settings that nothing else states.
func (o *outline) settle(t *session.Turn) {
	o.confirm(t)
	if len(o.settings) > 0 {
		t.Extras, o.settings = append(slices.Clip(t.Extras), o.settings...), nil
	}
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
