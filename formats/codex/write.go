package codex

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/filename"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// markLine is the type of the line that rehome writes for itself. The client passes over
// types that it does not know.
const markLine = "rehome"

const stampLayout = "2006-01-02T15:04:05.000Z"

// spelling is that of rollouts as 0.169.0 reads them: the items that the model is sent, and the
// two events that all versions show of them. The client makes databases and other events itself.
func spelling() *lineclient.Spelling {
	return &lineclient.Spelling{
		Paired: true,
		Path: func(h *session.Head, id string) string {
			at := h.Created.Time()
			return at.Format("sessions/2006/01/02/rollout-2006-01-02T15-04-05-") + id + ".jsonl"
		},
		Head: func(p *object.Writer, h *session.Head, id string) {
			at := h.Created.Time().Format(stampLayout)
			p.Text("timestamp", at)
			p.Name("payload")
			in := object.New(p.B)
			in.Text("id", id)
			in.Text("timestamp", at)
			in.Text("cwd", h.Workspace)
			in.Text("originator", "codex_cli_rs")
			in.Text("cli_version", "0.169.0")
			in.Text("source", "cli")
			p.B = in.Done()
		},
		Title: func(w *lineclient.Lines, title string) {
			put(w, "event_msg", "thread_name_updated", func(p *object.Writer) {
				p.Text("thread_id", w.Session())
				p.Text("thread_name", title)
			})
		},
		Mark: func(w *lineclient.Lines, data []byte) {
			p := w.New(markLine)
			p.Raw("payload", data)
			w.Put(p)
		},
		Line: spell,
		End:  endTurn,
		Call: command,
	}
}

// command makes a call of the client's own tool of one that runs a command. Other arguments
// stay: the client sends any.
func command(c *session.ToolCall) (changed loss.Code) {
	words := rawjson.Last(c.Input, "command")
	if c.Kind != "shell" || c.Name == "exec_command" || len(words) == 0 || words[0] != '"' || rawjson.Last(c.Input, "cmd") != nil {
		return ""
	}
	p := object.New(nil)
	p.Raw("cmd", words)
	for name, v := range rawjson.Members(c.Input) {
		if n := string(name); n != "command" {
			lineclient.Rest(&p, []session.Extra{lineclient.Member(n, v)})
		}
	}
	c.Name, c.Input = "exec_command", p.Done()
	return loss.ToolRenamed
}

// spell writes what is said: an item, and the event that the client shows of it.
func spell(w *lineclient.Lines, s *lineclient.Said) {
	switch s.What {
	case lineclient.Compaction:
		p := w.New("compacted")
		p.Name("payload")
		in := object.New(p.B)
		in.Text("message", lineclient.Words(s.Parts[len(s.Parts)-1:])) // before it stand prompts that are kept
		in.Name("replacement_history")
		in.B = append(message(append(in.B, '['), "user", s.Parts), ']')
		p.B = in.Done()
		w.Put(p)
	case lineclient.Result:
		put(w, "response_item", "function_call_output", func(p *object.Writer) {
			p.Text("call_id", s.Result.Call)
			p.Name("output")
			p.B = output(p.B, s.Parts, s.Result.Error)
		})
	case lineclient.Answer:
		for _, part := range s.Parts {
			switch part := part.(type) {
			case *session.Text:
				shown(w, "agent_message", part.Text)
				item(w, "assistant", []session.Part{part})
			case *session.ToolCall:
				put(w, "response_item", "function_call", func(p *object.Writer) {
					p.Text("name", part.Name)
					p.Text("arguments", string(part.Input))
					p.Text("call_id", part.ID)
				})
			}
		}
	case lineclient.Command:
		beginTurn(w)
		item(w, "user", s.Parts[:1])
		shown(w, "user_message", lineclient.Words(s.Parts[:1]))
		injection(w, &lineclient.Said{Tag: "bash-stdout", Parts: s.Parts[1:]})
	case lineclient.Prompt:
		beginTurn(w)
		item(w, "user", s.Parts)
		shown(w, "user_message", lineclient.Words(s.Parts))
	default:
		injection(w, s)
	}
}

// injection writes what a client put in. The item states what it is, which the client does not
// send; around the words stands their tag, unless they are a context of the client's own.
func injection(w *lineclient.Lines, s *lineclient.Said) {
	tag := strings.Map(func(r rune) rune {
		if strings.ContainsRune(". /<>&\"'\n", r) {
			return '_'
		}
		return r
	}, cmp.Or(s.Tag, "context"))
	parts := slices.Clone(s.Parts)
	for i, part := range parts {
		if t, ok := part.(*session.Text); ok && s.Tag != "" && injected(t.Text, "") == "" {
			parts[i] = &session.Text{Text: "<" + tag + ">\n" + t.Text + "\n</" + tag + ">"}
		}
	}
	p := w.New("response_item")
	p.Name("payload")
	b := bytes.TrimSuffix(message(p.B, "user", parts), []byte{'}'})
	b = append(b, `,"internal_chat_message_metadata_passthrough":{"content_item_kinds":[`...)
	for i := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = session.AppendString(b, tag+".rehome")
	}
	p.B = append(b, "]}}"...)
	w.Put(p)
}

// put writes a line of a type whose payload has a type, too.
func put(w *lineclient.Lines, line, kind string, body func(p *object.Writer)) {
	p := w.New(line)
	p.Name("payload")
	in := object.New(p.B)
	in.Text("type", kind)
	body(&in)
	p.B = in.Done()
	w.Put(p)
}

// shown writes the event that shows what is said.
func shown(w *lineclient.Lines, kind, words string) {
	if w.Number() < 0 {
		put(w, "event_msg", kind, func(p *object.Writer) { p.Text("message", words) })
		return
	}
	if w.Turn == "" {
		beginTurn(w)
	}
	of := [2]string{"UserMessage", "text"}
	if kind == "agent_message" {
		of = [2]string{"AgentMessage", "Text"}
	}
	put(w, "event_msg", "item_completed", func(p *object.Writer) {
		p.Text("thread_id", w.Session())
		p.Text("turn_id", w.Turn)
		p.Name("item")
		item, content := object.New(p.B), object.New(nil)
		item.Text("type", of[0])
		item.Text("id", fmt.Sprintf("%s-%d", w.Turn, w.Number()))
		content.Text("type", of[1])
		content.Text("text", words)
		item.Raw("content", slices.Concat([]byte{'['}, content.Done(), []byte{']'}))
		p.B = item.Done()
		p.Num("started_at_ms", int(w.Millis()))
		p.Num("completed_at_ms", int(w.Millis()))
	})
}

// beginTurn begins a turn in a session whose lines have numbers: of one that has none Codex
// shows the older events, of one that has some only items of turns.
func beginTurn(w *lineclient.Lines) {
	if endTurn(w); w.Number() >= 0 {
		w.Turn = filename.NamedUUID("rehome/codex/turn/1\x00", w.Session(), strconv.FormatInt(w.Number(), 10))
		put(w, "event_msg", "task_started", func(p *object.Writer) { p.Text("turn_id", w.Turn) })
	}
}

// endTurn ends the turn that is open. Without an end it is one that was interrupted.
func endTurn(w *lineclient.Lines) {
	if w.Turn != "" {
		put(w, "event_msg", "task_complete", func(p *object.Writer) { p.Text("turn_id", w.Turn) })
		w.Turn = ""
	}
}

// item writes a message as an item.
func item(w *lineclient.Lines, role string, parts []session.Part) {
	p := w.New("response_item")
	p.Name("payload")
	p.B = message(p.B, role, parts)
	w.Put(p)
}

// message writes a message of a role.
func message(dst []byte, role string, parts []session.Part) []byte {
	p := object.New(dst)
	p.Text("type", "message")
	p.Text("role", role)
	p.Name("content")
	p.B = contents(p.B, role, parts)
	return p.Done()
}

func contents(dst []byte, role string, parts []session.Part) []byte {
	dst = append(dst, '[')
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		p := object.New(dst)
		switch part := part.(type) {
		case *session.Text:
			kind := "input_text"
			if role == "assistant" {
				kind = "output_text"
			}
			p.Text("type", kind)
			p.Text("text", part.Text)
		case *session.Media:
			p.Text("type", "input_image")
			p.Text("image_url", "data:"+part.Mime+";base64,"+base64.StdEncoding.EncodeToString(part.Data))
		}
		dst = p.Done()
	}
	return append(dst, ']')
}

// failedOutput begins the output of a call that failed, where its words do not say so: the API
// has no member for it, and the client writes it like this for commands.
const failedOutput = "Exit code: 1\nOutput:\n"

// output writes what came of a call: a text, or a list if there are images.
func output(dst []byte, parts []session.Part, failed bool) []byte {
	words := lineclient.Words(parts)
	if failed && !toolmap.Failed(outcome(words, "")) {
		words = failedOutput + words
		parts = append([]session.Part{&session.Text{Text: failedOutput}}, parts...)
	}
	for _, part := range parts {
		if _, ok := part.(*session.Media); ok {
			return contents(dst, "user", parts)
		}
	}
	return session.AppendString(dst, words)
}
