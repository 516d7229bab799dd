package codex

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const name = "codex"

// Format is the codec.
func Format() *formats.Format {
	f := lineclient.Format(lineclient.Client{
		Name:  name,
		About: "sessions of the Codex CLI (rollouts)",
		Home: &formats.Home{
			Title:     "Codex",
			Folder:    "sessions",
			Resume:    []string{"codex", "resume"},
			Variable:  "CODEX_HOME",
			Roots:     home,
			MCP:       mcp(),
			SideFiles: []string{".json"},
			Parts:     []string{"sessions", "archived_sessions", "session_index.jsonl", "history.jsonl"},
			SessionFiles: []string{
				"*/sessions/**/*.jsonl",
				"*/sessions/**/*.jsonl.zst",
				"*/archived_sessions/**/*.jsonl",
				"*/archived_sessions/**/*.jsonl.zst",
				"*/session_index.jsonl",
				"*/history.jsonl",
			},
		},
		Layout: layout,
		Head:   lineclient.Head{Kind: "session_meta", ID: "id", Created: "timestamp", Cwd: "cwd", Version: "session_meta.cli_version", Parent: parent},
		Line:   lineclient.Line{Kind: []string{"type"}, Time: "timestamp", Number: "ordinal"},
		Of:     kindOf,
		Kinds:  kinds(),
		Decode: decode,
		Bases:  bases,
		First:  first,
		Move:   moves(),
		Spell:  spelling(),
		Tested: []string{"0.169.0", "0.77.0", "0.34.0", "0.20.0"},
		Fields: strings.Fields(fields),
		Tools:  strings.Fields("close_agent create_goal get_goal request_user_input send_input spawn_agent update_goal wait"),
		Consequences: map[string]string{
			"RH492": "Codex refuses to resume the session",
			"RH494": "Codex drops the result",
			"RH495": `Codex sends "aborted" as the result`,
			"RH498": "rehome reads one that is not compressed, and one in sessions",
		},
	})
	f.Probe, f.Strays, f.Merge, f.Writer.Taken = probe, strays, merge(), taken
	return f
}

// moves are what the client finds the rollouts of a folder by. The world_state says which one
// the model was told of: the client tells it of the new one.
func moves() *lineclient.Move {
	return &lineclient.Move{
		Names: map[string][]string{
			"session_meta":                      {"payload/cwd"},
			"turn_context":                      {"payload/cwd"},
			"event_msg thread_settings_applied": {"payload/thread_settings/cwd"},
		},
		Runs: func(file string) bool { return sqlitefile.HasOpen(filepath.Join(around(file), "state_5.sqlite")) },
	}
}

// mcp is how the client is told of servers. Those that it adds itself are for all folders.
func mcp() *formats.MCP {
	return &formats.MCP{
		Files: func(m formats.Machine, cwd string) []string {
			return []string{filepath.Join(cwd, ".codex", "config.toml"), filepath.Join(home(m)[0], "config.toml")}
		},
		Key: "mcp_servers",
		Add: &formats.MCPCommand{Verb: []string{"mcp", "add"}, Env: "--env", HTTP: []string{"--url"}},
	}
}

// home is CODEX_HOME, which holds the client's settings and databases, too.
func home(m formats.Machine) []string {
	return []string{cmp.Or(m.Env("CODEX_HOME"), filepath.Join(m.Home, ".codex"))}
}

func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if l.IsDir() {
		if jsonl.Holds(l, layout()) {
			return formats.Match{Score: 90, Evidence: []string{"a folder with rollouts"}}, nil
		}
		return formats.Match{}, nil
	}
	_, named := rolloutID(l.Name())
	first := l.FirstLine()
	switch {
	case rawjson.TextAt(first, "type") == "session_meta" && rawjson.At(first, "payload", "id") != nil:
		return formats.Match{Score: 90, Evidence: []string{"a first line of type session_meta with an id"}}, nil
	case named && rawjson.At(first, "id") != nil && rawjson.At(first, "timestamp") != nil:
		return formats.Match{Score: 85, Evidence: []string{"named like a rollout", "a first line with an id and a timestamp"}}, nil
	case named && strings.HasPrefix(string(l.Head()), "\x28\xb5\x2f\xfd"):
		return formats.Match{Score: 85, Evidence: []string{"named like a rollout", "compressed with zstd"}}, nil
	}
	return formats.Match{}, nil
}

// layout finds the rollouts of a store, in the order in which the sessions began, so
// that parents come before subagents. For a single file the store around it is
// opened, because the beginning of a forked session is in another file.
func layout() jsonl.Layout {
	return jsonl.Layout{
		Around: around,
		Enter: func(dir string) bool {
			top, _, inner := strings.Cut(dir, "/")
			return isTop(top) && !inner || isDate(path.Base(dir)) && strings.Count(dir, "/") < 4
		},
		Match: func(p string, named bool) (jsonl.File, bool) {
			id, ok := rolloutID(path.Base(p))
			if !ok {
				id = strings.TrimSuffix(path.Base(p), path.Ext(p))
			}
			return jsonl.File{ID: id}, ok || named
		},
		Compare: func(a, b *jsonl.File) int { return strings.Compare(path.Base(a.Path), path.Base(b.Path)) },
		Better:  func(_ *jsonl.Store, a, _ *jsonl.File) bool { return !a.Packed() },
	}
}

// around returns the store that a file lies in.
func around(file string) string {
	dir := filepath.Dir(file)
	for top := dir; ; top = filepath.Dir(top) {
		switch base := filepath.Base(top); {
		case isTop(base):
			return filepath.Dir(top)
		case !isDate(base):
			return dir
		}
	}
}

// isTop reports whether a folder of CODEX_HOME has rollouts.
func isTop(name string) bool { return name == "sessions" || name == "archived_sessions" }

// isDate reports whether a folder is that of a year, a month or a day.
func isDate(name string) bool {
	return (len(name) == 2 || len(name) == 4) && strings.Trim(name, "0123456789") == ""
}

// rolloutID returns the session's id from a file name such as
// rollout-2026-11-22T10-31-27-01a202cf-91d2-7502-9981-377fadfd9546.jsonl.
func rolloutID(file string) (string, bool) {
	const stamp, uuid = len("2006-01-02T15-04-05-"), 36
	rest, ok := strings.CutPrefix(file, "rollout-")
	rest, plain := strings.CutSuffix(strings.TrimSuffix(rest, ".zst"), ".jsonl")
	if !ok || !plain || len(rest) != stamp+uuid {
		return "", false
	}
	return rest[stamp:], true
}

// Kinds of records that clients are known to write, each between blanks, by what
// becomes of them.
const (
	turnLines   = " turn_context " + markLine + " "
	repeatLines = " world_state state " // messages, or other lines, say the same
	moreLines   = " session_meta compacted token_usage_record security_risk_score inter_agent_communication" +
		" inter_agent_communication_metadata dynamic_tools_updated realtime_item "
	items = " message reasoning function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call web_search_call" +
		" tool_search_call tool_search_output image_generation_call ghost_snapshot compaction context_compaction agent_message additional_tools "
	turnEvents   = " task_started turn_started task_complete turn_complete turn_aborted token_count thread_rolled_back "
	repeatEvents = " user_message agent_message agent_reasoning agent_reasoning_raw_content web_search_end image_generation_end context_compacted" +
		" thread_settings_applied UserMessage AgentMessage Reasoning ContextCompaction WebSearch ImageGeneration "
	viewEvents   = " view_image_tool_call ImageView "
	resultEvents = " mcp_tool_call_end exec_command_end patch_apply_end CommandExecution FileChange McpToolCall "
	moreEvents   = " item_completed thread_goal_updated entered_review_mode exited_review_mode sub_agent_activity error thread_name_updated "
)

func listed(kinds, kind string) bool { return strings.Contains(kinds, " "+kind+" ") }

// kinds are the kinds of records, as kindOf names them.
func kinds() map[string]lineclient.Kind {
	out := map[string]lineclient.Kind{}
	for before, list := range map[string]string{
		"":               turnLines + repeatLines + moreLines,
		"response_item ": items,
		"part ":          " encrypted_content input_file ",
		"event_msg ":     turnEvents + repeatEvents + viewEvents + resultEvents + moreEvents,
	} {
		for _, kind := range strings.Fields(list) {
			var k lineclient.Kind
			if item := before == "response_item "; item && strings.HasSuffix(kind, "_call") {
				k.Opens = "call_id"
			} else if item && strings.HasSuffix(kind, "_output") {
				k.Closes = "call_id"
			}
			out[before+kind] = k
		}
	}
	out[markLine] = lineclient.Kind{Own: func(*lineclient.Record) bool { return true }}
	out["event_msg thread_name_updated"] = lineclient.Kind{Title: "thread_name"}
	out["response_item message"] = lineclient.Kind{Prompt: true, Say: func(r *lineclient.Record) []session.Part {
		one := record{kind: "response_item", sub: "message", body: r.Fields.All()}
		return []session.Part{&session.Text{Text: one.prompt()}}
	}}
	return out
}

// kindOf returns the kind of a line, and the member that holds what it says.
func kindOf(line *lineclient.Fields) (kind, in string) {
	body := line.Peek("payload")
	kind, sub, in := shape(rawjson.Text(line.Peek("type")), body, line.Peek)
	if kind == "response_item" || kind == "event_msg" {
		kind += " " + sub
	}
	return kind, in
}

// fields are the extras that the tested versions write.
const fields = `base_instructions.provenance compaction_response_id detail encrypted_content first_window_id id output.metadata
	replacement_history.id replacement_history.internal_chat_message_metadata_passthrough task_complete.error
	task_complete.time_to_first_token_ms task_started.turn_attribution internal_chat_message_metadata_passthrough
	latest_token_usage_record metadata phase previous_window_id replacement_history replacement_history_metadata resume_metadata
	retained_context session_meta.account_scoped session_meta.cli_version session_meta.context_window session_meta.forked_from_id
	session_meta.forked_from_ordinal_exclusive session_meta.git session_meta.history_base session_meta.history_mode
	session_meta.instructions session_meta.model_provider session_meta.multi_agent_version session_meta.originator
	session_meta.runtime_workspace_roots session_meta.session_id session_meta.source session_meta.thread_source status summary
	turn_context.approval_policy turn_context.approvals_reviewer turn_context.collaboration_mode turn_context.cwd
	turn_context.disabled_plugin_ids turn_context.effort turn_context.multi_agent_version turn_context.permission_profile
	turn_context.realtime_active turn_context.sandbox_policy turn_context.summary window_id window_number`

// parent returns the session that started the one with a session_meta.
func parent(head *lineclient.Record) *session.Link {
	spawn := rawjson.At(head.Peek("source"), "subagent", "thread_spawn")
	return &session.Link{Session: rawjson.TextAt(spawn, "parent_thread_id"), Title: rawjson.TextAt(spawn, "agent_nickname"), Kind: rawjson.TextAt(spawn, "agent_role")}
}

// first applies the rules of the line that names the session.
func first(a *lineclient.Audit, r *lineclient.Record) {
	id := r.Text("id")
	if _, named := rolloutID(path.Base(a.File.Path)); named && id != a.File.ID {
		a.Say("RH490", r.Number, "/payload/id", "id %q", rule.Clip(id))
	}
	from := r.Peek("history_base")
	if from == nil {
		return
	}
	a.Gap, id = true, rawjson.TextAt(from, "thread_id") // calls may be in the other file
	end, _ := strconv.ParseInt(string(rawjson.At(from, "end_byte_offset")), 10, 64)
	base := a.Store.Find(id)
	if base == nil {
		a.Say("RH487", r.Number, "/payload/history_base", "session %q", rule.Clip(id))
	} else if info, err := a.Store.Root.Stat(base.Path); err == nil && info.Size() < end && !base.Packed() {
		a.Say("RH487", r.Number, "/payload/history_base", "session %q has %v, and %v are needed", rule.Clip(id), rule.Count(info.Size(), "byte"), rule.Count(end, ""))
	}
}

// bases returns the files that a session was forked from.
func bases(in lineclient.Input) (out []*jsonl.File) {
	d := &decoder{Input: in}
	d.findSources(&session.Session{})
	for _, from := range d.sources {
		if from.base > 0 {
			out = append(out, from.File)
		}
	}
	return out
}
