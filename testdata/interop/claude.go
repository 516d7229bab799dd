package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

type object = map[string]any

// claudes are config folders of Claude Code with a session each.
func claudes(dir string, count int) (out []made, err error) {
	for i := range count {
		turns := 2 + i%4
		if i%3 == 0 {
			turns = 120 + 7*i%60 // most sessions are short, and most of what was said is in long ones
		}
		at := filepath.Join(dir, strconv.Itoa(i))
		c := &claude{rng: rand.New(rand.NewPCG(uint64(i), 9)), id: fmt.Sprintf("c1a0de00-0000-4000-8000-%012d", i)}
		if err := c.session(turns); err != nil {
			return nil, err
		}
		project := filepath.Join(at, "projects", "-work")
		if err := os.MkdirAll(project, 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(project, c.id+".jsonl"), c.text.Bytes(), 0o644); err != nil {
			return nil, err
		}
		out = append(out, made{"claude", at})
	}
	return out, nil
}

// claude is a session of Claude Code while it is made.
type claude struct {
	rng         *rand.Rand
	id          string
	text        bytes.Buffer
	lines, last int
	marks       int
	responses   int
}

// words are a text like no other.
func (c *claude) words() string {
	c.marks++
	all := []string{"über", "テスト", "\"quoted\" \\", "two\nlines", "<b>&amp;</b>", "👩‍👩‍👧‍👦", "control \x01\x1f", "\u2028\u0085", "{\"json\":1}", "tab\there"}
	return fmt.Sprintf("tk%dx %s %s.", c.marks, all[c.rng.IntN(len(all))], all[c.rng.IntN(len(all))])
}

func (c *claude) chance(percent int) bool { return c.rng.IntN(100) < percent }

func uuid(n int) any {
	if n == 0 {
		return nil
	}
	return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n)
}

// line appends a line to the chain.
func (c *claude) line(kind string, members object) error {
	c.lines++
	l := object{
		"parentUuid": uuid(c.last), "uuid": uuid(c.lines), "type": kind, "isSidechain": false, "userType": "external", "entrypoint": "cli", "cwd": "/work", "sessionId": c.id, "version": "2.1.328", "gitBranch": "main",
		"timestamp": time.Date(2026, 5, 6, 7, 8, c.lines, 0, time.UTC).Format("2006-01-02T15:04:05.000Z"),
	}
	for name, value := range members {
		l[name] = value
	}
	c.last = c.lines
	return json.NewEncoder(&c.text).Encode(l)
}

func (c *claude) user(content any, members object) error {
	l := object{"message": object{"role": "user", "content": content}}
	for name, value := range members {
		l[name] = value
	}
	return c.line("user", l)
}

func (c *claude) session(turns int) error {
	for n := range turns {
		if n > 0 && n < 6 && c.chance(15) {
			if err := c.compact(); err != nil {
				return err
			}
		}
		if err := c.turn(); err != nil {
			return err
		}
	}
	return nil
}

func (c *claude) compact() error {
	boundary := object{"subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false, "level": "info", "logicalParentUuid": uuid(c.last), "parentUuid": nil, "compactMetadata": object{"trigger": "manual", "preTokens": 1000}}
	if err := c.line("system", boundary); err != nil {
		return err
	}
	return c.user("This session is being continued. "+c.words(), object{"isCompactSummary": true, "isVisibleInTranscriptOnly": true})
}

// turn is a prompt, responses with calls, and an answer.
func (c *claude) turn() error {
	var prompt any = c.words()
	if c.chance(40) {
		picture, err := c.picture()
		if err != nil {
			return err
		}
		prompt = []object{{"type": "text", "text": prompt}, picture}
	}
	if err := c.user(prompt, object{"promptId": uuid(c.lines + 1)}); err != nil {
		return err
	}
	for range c.rng.IntN(4) {
		if err := c.response(1 + c.rng.IntN(3)); err != nil {
			return err
		}
	}
	return c.response(0)
}

// picture is an image of two random pixels.
func (c *claude) picture() (object, error) {
	m := image.NewRGBA(image.Rect(0, 0, 2, 1))
	for x := range 2 {
		m.Set(x, 0, color.RGBA{uint8(c.rng.IntN(256)), uint8(c.rng.IntN(256)), uint8(c.rng.IntN(256)), 255})
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(b.Bytes())}}, err
}

// response has a line for each block, and one for each result: of parallel calls in any order.
func (c *claude) response(calls int) error {
	c.responses++
	var blocks []object
	if c.chance(50) {
		blocks = append(blocks, object{"type": "thinking", "thinking": c.words(), "signature": base64.StdEncoding.EncodeToString([]byte(c.words()))})
	}
	if calls == 0 || c.chance(60) {
		blocks = append(blocks, object{"type": "text", "text": c.words()})
	}
	stop := "end_turn"
	if calls > 0 {
		stop = "tool_use"
	}
	for n := range calls {
		name, input := c.call()
		blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%dx%d", c.responses, n), "name": name, "input": input})
	}
	for _, block := range blocks {
		message := object{"id": fmt.Sprintf("msg_%d", c.responses), "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": []object{block}, "stop_reason": stop, "stop_sequence": nil, "usage": object{"input_tokens": 5, "output_tokens": 7}}
		if err := c.line("assistant", object{"message": message, "requestId": fmt.Sprintf("req_%d", c.responses)}); err != nil {
			return err
		}
	}
	for _, n := range c.rng.Perm(calls) {
		call, text := blocks[len(blocks)-calls+n], c.words()
		block := object{"type": "tool_result", "tool_use_id": call["id"], "content": text}
		more := object{"toolUseResult": "Error: " + text}
		switch {
		case c.chance(20):
			block["is_error"] = true
		case call["name"] == "Bash":
			more["toolUseResult"] = object{"stdout": text, "stderr": "", "interrupted": false, "isImage": false}
		default:
			block["content"] = []object{{"type": "text", "text": text}}
			delete(more, "toolUseResult")
		}
		if err := c.user([]object{block}, more); err != nil {
			return err
		}
	}
	return nil
}

// call is a tool's name and its arguments.
func (c *claude) call() (string, object) {
	path := fmt.Sprintf("/home/ann/tk%dx.go", c.rng.Uint32())
	switch c.rng.IntN(7) {
	case 0, 1:
		return "Bash", object{"command": "echo " + c.words(), "description": c.words()}
	case 2:
		return "Read", object{"file_path": path}
	case 3:
		return "Edit", object{"file_path": path, "old_string": c.words(), "new_string": c.words()}
	case 4:
		return "Write", object{"file_path": path, "content": c.words()}
	case 5:
		return "Grep", object{"pattern": c.words(), "path": "/work"}
	default:
		return "mcp__wiki__look_up", object{"word": c.words(), "n": c.rng.IntN(100)}
	}
}
