package codex

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/plainfiles"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
)

const name = "codex"

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    name,
		Title:   "sessions of the Codex CLI (rollouts)",
		Clients: []string{session.Codex},
		Probe:   probe,
		Plain:   plainfiles.Records(name),
		Sessions: &formats.Sessions{
			Decode: decode,
			Heads:  heads,
			Scan:   scan,
		},
		Writer: writer(),
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
		Strays: strays,
		Check:  check,
		Repair: linerepair.Repair,
		Merge:  merge(),
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
	case text(first, "type") == "session_meta" && at(first, "payload", "id") != nil:
		return formats.Match{Score: 90, Evidence: []string{"a first line of type session_meta with an id"}}, nil
	case named && at(first, "id") != nil && at(first, "timestamp") != nil:
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
		Format: name,
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
		Better:  func(a, _ *jsonl.File) bool { return !a.Packed() },
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
	knownLines  = turnLines + repeatLines + " session_meta response_item event_msg compacted token_usage_record security_risk_score" +
		" inter_agent_communication inter_agent_communication_metadata dynamic_tools_updated realtime_item "
	knownItems = " message reasoning function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call web_search_call" +
		" tool_search_call tool_search_output image_generation_call ghost_snapshot compaction context_compaction agent_message additional_tools "
	turnEvents   = " task_started turn_started task_complete turn_complete turn_aborted token_count thread_rolled_back "
	repeatEvents = " user_message agent_message agent_reasoning agent_reasoning_raw_content web_search_end image_generation_end context_compacted" +
		" thread_settings_applied UserMessage AgentMessage Reasoning ContextCompaction WebSearch ImageGeneration "
	viewEvents   = " view_image_tool_call ImageView "
	resultEvents = " mcp_tool_call_end exec_command_end patch_apply_end CommandExecution FileChange McpToolCall "
	knownEvents  = turnEvents + repeatEvents + viewEvents + resultEvents + " item_completed thread_goal_updated entered_review_mode" +
		" exited_review_mode sub_agent_activity error thread_name_updated "
)

func listed(kinds, kind string) bool { return strings.Contains(kinds, " "+kind+" ") }

// heads lists a store by the ends of its files.
func heads(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
	return jsonl.Each(ctx, l, layout(), func(s *jsonl.Store, f *jsonl.File, yield func(*session.Head, error) bool) bool {
		h, _, err := head(ctx, s, f, v.Cwd)
		return yield(&h.Head, err)
	})
}

// nameEvent is the event of the name that the user gave to a session.
const nameEvent = "thread_name_updated"

// name returns that name, "" if the record is another.
func (r *record) name() string {
	if r.kind != "event_msg" || r.sub != nameEvent {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimSpace(text(r.body, "thread_name")), "\n")
	return rule.Clip(name)
}

// named is a head, and whether the user gave it its title.
type named struct {
	session.Head
	named bool
}

// call sets the title that the user gave, if name is not "".
func (h *named) call(name string) {
	if name != "" {
		h.Title, h.named = name, true
	}
}

// maxMeta is how much of a file is read for its first line, which has the system
// prompt and the tools.
const maxMeta = 8 << 20

// head returns what the ends of a file state, and the session_meta.
func head(ctx context.Context, s *jsonl.Store, f *jsonl.File, cwd string) (h named, meta []byte, err error) {
	h.Head = session.Head{ID: f.ID, Agent: session.Codex, Workspace: cwd, Turns: -1, Bytes: -1}
	ends, err := s.Ends(f)
	if err != nil {
		return h, nil, err
	}
	h.Bytes = ends.Size
	for l, err := range s.Lines(ctx, f, maxMeta) {
		if err != nil {
			return h, meta, err
		}
		r := parse(l, source{File: f})
		if l.Offset > jsonl.MaxEnd {
			break
		}
		if r.kind == "session_meta" && meta == nil {
			meta = bytes.Clone(r.body)
		}
		if words := r.prompt(); words != "" {
			h.Title = cmp.Or(h.Title, words)
			break
		}
		h.call(r.name())
	}
	h.Created, h.Workspace = jsonl.Time(at(meta, "timestamp")), cmp.Or(cwd, text(meta, "cwd"))
	spawn := at(meta, "source", "subagent", "thread_spawn")
	if id := parentOf(meta); id != "" && id != f.ID {
		h.Parent = &session.Link{Session: id, Title: text(spawn, "agent_nickname"), Kind: text(spawn, "agent_role")}
	}
	if f.Packed() {
		return h, meta, nil // its end cannot be read without the rest
	}
	for line := range bytes.Lines(ends.Tail) {
		if line[0] == '{' && bytes.Contains(line, []byte(nameEvent)) {
			r := parse(jsonl.Parse(lines.Line{Bytes: bytes.TrimSuffix(line, []byte("\n")), Ended: true}), source{File: f})
			h.call(r.name())
		}
		if t := jsonl.Time(at(line, "timestamp")); line[0] == '{' && t.Known() {
			h.Updated = t
		}
	}
	return h, meta, nil
}

// check applies the rules to each rollout.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	s, err := jsonl.Open(l, layout())
	if err != nil {
		return jsonl.Failure(ctx, name, l.Path, err)
	}
	defer s.Close()
	for _, f := range s.Wanted() {
		files := []*jsonl.File{f}
		if l.IsDir() {
			files = append(files, f.Older...)
		}
		for _, f := range files {
			q := q.OwnedBy(f.ID)
			a := &audit{s: s, f: f, q: q, calls: map[string]int{}}
			if f != files[0] {
				a.say("RH491", 0, "", "")
			}
			if err := s.Check(ctx, f, v, q, linecheck.Options{Odd: func(int) { a.gap = true }}, a.line); err != nil {
				return err
			}
			a.end()
		}
	}
	return nil
}

// audit is what is known of one file while it is read.
type audit struct {
	s     *jsonl.Store
	f     *jsonl.File
	q     *rule.Pass
	calls map[string]int // lines of the calls without a result
	n     int            // lines so far
	gap   bool           // a line could not be read
	base  bool           // calls may be in another file
}

func (a *audit) say(id string, line int, pointer, says string, args ...any) {
	a.q.Add(id, store.Addr{File: a.f.Name, Line: line}, pointer, says, args...)
}

func (a *audit) line(l *linecheck.Line) {
	r := parse(jsonl.Line{Line: lines.Line{Number: l.Number}, Object: l.Bytes}, source{File: a.f})
	if a.n++; a.n == 1 && !a.gap {
		a.first(&r)
	}
	known, kind := knownLines, r.kind
	switch r.kind {
	case "response_item":
		known, kind = knownItems, r.sub
	case "event_msg":
		known, kind = knownEvents, r.sub
	}
	if !listed(known, kind) {
		a.say("RH204", l.Number, "", "%q of type %q", rule.Clip(r.kind), rule.Clip(kind))
	}
	id := text(r.body, "call_id")
	switch {
	case r.kind != "response_item" || id == "":
	case strings.HasSuffix(r.sub, "_call"):
		a.calls[id] = l.Number
	case strings.HasSuffix(r.sub, "_call_output"):
		if a.calls[id] == 0 && !a.gap && !a.base {
			a.say("RH488", l.Number, "/payload/call_id", "call %q", rule.Clip(id))
		}
		delete(a.calls, id)
	}
}

// first checks the line that names the session.
func (a *audit) first(r *record) {
	id := text(r.body, "id")
	if r.kind != "session_meta" || id == "" {
		a.say("RH486", r.Number, "", "")
		return
	}
	if _, named := rolloutID(path.Base(a.f.Path)); named && id != a.f.ID {
		a.say("RH490", r.Number, "/payload/id", "id %q", rule.Clip(id))
	}
	from := at(r.body, "history_base")
	if a.base = from != nil; !a.base {
		return
	}
	id = text(from, "thread_id")
	end, _ := strconv.ParseInt(string(at(from, "end_byte_offset")), 10, 64)
	base := a.s.Find(id)
	if base == nil {
		a.say("RH487", r.Number, "/payload/history_base", "session %q", rule.Clip(id))
	} else if info, err := a.s.Root.Stat(base.Path); err == nil && info.Size() < end && !base.Packed() {
		a.say("RH487", r.Number, "/payload/history_base", "session %q has %v, and %v are needed", rule.Clip(id), rule.Count(info.Size(), "byte"), rule.Count(end, ""))
	}
}

// end checks what only the whole file shows.
func (a *audit) end() {
	open := slices.SortedFunc(maps.Keys(a.calls), func(x, y string) int { return cmp.Compare(a.calls[x], a.calls[y]) })
	for _, id := range open {
		a.say("RH489", a.calls[id], "/payload/call_id", "call %q", rule.Clip(id))
	}
}

// scan searches the files of sessions, and those that they were forked from.
func scan(ctx context.Context, l *formats.Location, _ formats.View, s *formats.Scan) error {
	return jsonl.Scan(ctx, l, layout(), s, func(st *jsonl.Store, f *jsonl.File) (out []*jsonl.File) {
		d := &decoder{ctx: ctx, store: st, file: f}
		_, meta, _ := head(ctx, st, f, "")
		d.findSources(meta, &session.Session{})
		for _, from := range d.sources {
			if from.base > 0 {
				out = append(out, from.File)
			}
		}
		return out
	})
}
