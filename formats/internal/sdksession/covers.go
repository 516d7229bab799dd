package sdksession

import (
	"bytes"
	"context"

	"rehome/formats/internal/members"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// otherArgs keeps the arguments that an event has of a call where they are not
// those of the checkpoint.
func (m *turnMerge) otherArgs(call *session.ToolCall, it *item) error {
	if err := m.store.earlyArgs(m.ctx, m.t, it, call); err != nil || it.args < 0 || it.cutArgs {
		return err
	}
	ev, err := m.store.event(m.ctx, m.t.run.events[it.args])
	if err != nil || ev == nil || covers(call.Args, ev.args) || covers(call.Input, ev.args) {
		return err
	}
	call.Extras = append(call.Extras, session.Extra{Name: "event.args", Raw: members.Bare("args", ev.args)})
	return nil
}

// earlyArgs keeps the arguments that earlier events have of a call where they are not the
// beginning of those that it has.
func (s *Store) earlyArgs(ctx context.Context, t *turnEvents, it *item, call *session.ToolCall) error {
	for _, i := range it.early {
		ev, err := s.event(ctx, t.run.events[i])
		if err != nil {
			return err
		}
		if ev != nil && !grows(call.Args, ev.args) && !grows(call.Input, ev.args) {
			call.Extras = append(call.Extras, session.Extra{Name: "event.args", Raw: members.Bare("args", ev.args)})
		}
	}
	return nil
}

// otherResult is otherArgs for what came of a call.
func (m *turnMerge) otherResult(r *session.ToolResult) error {
	i, ok := m.byCall[r.Call]
	if !ok || m.t.items[i].end < 0 || m.t.items[i].cutResult {
		return nil
	}
	ev, err := m.store.event(m.ctx, m.t.run.events[m.t.items[i].end])
	if err != nil || ev == nil || coversResult(r, ev.result) {
		return err
	}
	r.Extras = append(r.Extras, session.Extra{Name: "event.result", Raw: members.Bare("result", ev.result)})
	return nil
}

// coversResult compares {"status":"success","value":{…}} with the checkpoint's
// {"success":{…}}.
func coversResult(r *session.ToolResult, result []byte) bool {
	if len(result) > 0 && result[0] != '{' {
		return false
	}
	own := rawjson.Last(r.Value, r.Status)
	for name, value := range rawjson.Members(result) {
		switch string(name) {
		case "status":
			if word, failed := toolmap.Outcome(rawjson.Text(value)); failed && !r.Error || !failed && word != "success" && word != r.Status {
				return false
			}
		case "value", "error":
			if !covers(own, value) && !(string(name) == "error" && coversError(own, value, r.Status)) {
				return false
			}
			own = nil // said twice, it says more
		default:
			if !empty(value) {
				return false
			}
		}
	}
	return true
}

// coversError compares {"message":"not found"} with the checkpoint's record of a failure,
// which has no member of that name: its text is under another, such as "error" or "reason",
// and without any the message is the case of the result.
func coversError(full, part []byte, status string) bool {
	if part[0] != '{' {
		return false
	}
	for name, value := range rawjson.Members(part) {
		if string(name) != "message" {
			if !covers(rawjson.Last(full, string(name)), value) {
				return false
			}
			continue
		}
		known := empty(value) || value[0] == '"' && rawjson.Text(value) == status
		for _, own := range rawjson.Members(full) {
			known = known || own[0] == '"' && value[0] == '"' && bytes.Equal(scalar(own), scalar(value))
		}
		if !known {
			return false
		}
	}
	return true
}

// covers reports whether JSON that an event holds says nothing beyond what the
// checkpoint says. Events are projections: they leave members out, spell 64-bit
// numbers as numbers, and write out what the checkpoint leaves out as empty.
func covers(full, part []byte) bool { return coversTo(full, part, false, 0) }

// grows is covers for what was not yet complete: texts and lists can be the beginnings of those
// in full.
func grows(full, part []byte) bool { return coversTo(full, part, true, 0) }

func coversTo(full, part []byte, begun bool, depth int) bool {
	switch {
	case depth > rawjson.MaxDepth || len(part) == 0:
		return len(part) == 0
	case len(full) == 0:
		return empty(part)
	case part[0] == '{':
		if full[0] != '{' {
			return empty(part)
		}
		all := map[string][]byte{}
		for name, value := range rawjson.Members(full) {
			all[string(name)] = value
		}
		for name, value := range rawjson.Members(part) {
			if !coversTo(all[string(name)], value, begun, depth+1) {
				return false
			}
			delete(all, string(name)) // said twice, it says more
		}
		return true
	case part[0] == '[':
		var list [][]byte
		for value := range rawjson.Elements(full) {
			list = append(list, value)
		}
		n := 0
		for value := range rawjson.Elements(part) {
			if n >= len(list) || !coversTo(list[n], value, begun, depth+1) {
				return false
			}
			n++
		}
		return n == len(list) || begun
	}
	if begun && part[0] == '"' && full[0] == '"' && bytes.HasPrefix(scalar(full), scalar(part)) {
		return true
	}
	return bytes.Equal(scalar(full), scalar(part)) || sameEnum(scalar(full), scalar(part))
}

// sameEnum reports whether an event has a shorter spelling of an enum's value: "inProgress"
// of one that ends in _IN_PROGRESS.
func sameEnum(full, part []byte) bool {
	if len(part) == 0 || !bytes.Equal(bytes.ToUpper(full), full) || bytes.IndexByte(full, '_') < 0 {
		return false
	}
	var name []byte
	for _, c := range part {
		if c >= 'A' && c <= 'Z' {
			name = append(name, '_')
		}
		name = append(name, c)
	}
	return bytes.HasSuffix(full, append([]byte{'_'}, bytes.ToUpper(name)...))
}

// empty is what the checkpoint leaves out.
func empty(value []byte) bool {
	switch string(value) {
	case `null`, `""`, `0`, `false`, `[]`, `{}`:
		return true
	}
	return false
}

// scalar is a scalar's text: 64-bit numbers are strings in the checkpoint.
func scalar(value []byte) []byte {
	if value[0] == '"' {
		return rawjson.AppendText(nil, value)
	}
	return value
}
