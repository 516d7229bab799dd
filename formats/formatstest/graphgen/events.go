package graphgen

import "strconv"

// events are what the client streamed of a turn: JSON of one message each.
func (p *Plan) events(t *turn) (out []string) {
	say := func(kind string, pairs ...string) {
		head := []string{"type", quote(kind), "agent_id", quote(p.ID), "run_id", quote(t.run.id)}
		out = append(out, jsonText(append(head, pairs...)...))
	}
	say("request", "request_id", quote(t.request))
	say("status", "status", `"RUNNING"`)
	if !t.run.silent {
		say("user", "message", spoken("user", t.prompt))
	}
	list := t.responses
	if t.run.more != nil {
		list = append(list[:len(list):len(list)], t.run.more)
	}
	for _, r := range list {
		p.response(r, r == t.run.more, say)
	}
	u := t.run.usage
	say("usage", "usage", jsonText("inputTokens", num(u[0]), "outputTokens", num(u[1]), "cacheReadTokens", num(u[2]), "cacheWriteTokens", num(u[3]), "totalTokens", num(u[4])))
	say("status", "status", quote(map[string]string{"finished": "FINISHED", "cancelled": "CANCELLED", "error": "ERROR"}[t.run.ending]))
	return out
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

func spoken(role, text string) string {
	return jsonText("role", quote(role), "content", jsonList([]string{textPart(text)}))
}

// deltas cuts a text in two or three, between its runes.
func deltas(text string) (out []string) {
	runes := []rune(text)
	for _, cut := range []int{len(runes) / 3, len(runes) / 3, len(runes) - 2*(len(runes)/3)} {
		if cut > 0 {
			out = append(out, string(runes[:cut]))
			runes = runes[cut:]
		}
	}
	return out
}

func (p *Plan) response(r *response, open bool, say func(string, ...string)) {
	for _, d := range deltas(r.thinking) {
		say("thinking", "text", quote(d))
	}
	if r.thinking != "" {
		say("thinking", "text", `""`, "thinking_duration_ms", num(int64(r.took)))
	}
	for _, d := range deltas(r.text) {
		say("assistant", "message", spoken("assistant", d))
	}
	// Tools run side by side: all begin before the first ends.
	for _, done := range []bool{false, true} {
		for _, c := range r.calls {
			head := []string{"call_id", quote(c.id), "name", quote(c.kind)}
			switch {
			case !c.announced:
			case !done:
				say("tool_call", append(head, "status", `"running"`, "args", "{}")...)
				say("tool_call", append(head, "status", `"running"`, "args", c.eventArgs)...)
			case !open: // a cancelled run never hears of the rest
				say("tool_call", append(head, "status", `"completed"`, "args", c.eventArgs, "result", c.eventResult())...)
			}
		}
	}
}

func (c *call) eventResult() string {
	if c.failed && c.outcome != "failure" {
		return jsonText("status", `"error"`, "error", jsonText("message", c.eventValue))
	}
	return jsonText("status", `"success"`, "value", c.eventValue)
}
