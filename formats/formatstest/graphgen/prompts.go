package graphgen

import (
	"encoding/hex"
	"strings"
)

// jsonText builds an object from names and values that are JSON already; an
// empty value leaves its member out.
func jsonText(pairs ...string) string {
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, quote(pairs[i])+":"+pairs[i+1])
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

func jsonList(items []string) string { return "[" + strings.Join(items, ",") + "]" }

func textPart(text string) string { return jsonText("type", `"text"`, "text", quote(text)) }

func imagePart(data []byte, mime string) string {
	return jsonText("type", `"image"`, "image", jsonText("__type", `"Uint8Array"`, "hex", quote(hex.EncodeToString(data))), "mimeType", quote(mime))
}

func wrapped(around []envelope) string {
	var b strings.Builder
	for _, e := range around {
		b.WriteString("<" + e.tag + ">\n" + e.text + "\n</" + e.tag + ">\n")
	}
	return b.String()
}

func (p *Plan) systemPrompt() string {
	return jsonText("role", `"system"`, "content", quote(p.system))
}

// contextPrompt is the message that a client writes ahead of the first prompt.
func (p *Plan) contextPrompt() string {
	text := strings.TrimSuffix(wrapped(p.context), "\n")
	if p.Shape == PromptsOnly {
		return jsonText("role", `"user"`, "content", quote(text))
	}
	return jsonText("role", `"user"`, "content", jsonList([]string{textPart(text)}))
}

func summaryPrompt(a archive) string {
	return jsonText("role", `"user"`, "content", jsonList([]string{textPart(a.summary)}), "providerOptions", `{"cursor":{"isSummary":true}}`)
}

// turnPrompts are the messages of one turn, as the model sees them.
func (p *Plan) turnPrompts(t *turn) []string {
	if t.shell != nil {
		return nil
	}
	text := wrapped(t.around) + "<user_query>\n" + t.prompt + "\n</user_query>"
	content := quote(text)
	if p.Shape != PromptsOnly {
		parts := []string{textPart(text)}
		if t.image != nil {
			parts = append(parts, imagePart(t.image, "image/jpeg"))
		}
		content = jsonList(parts)
	}
	out := []string{jsonText("role", `"user"`, "content", content, "providerOptions", jsonText("cursor", jsonText("requestId", quote(t.request))))}
	for _, r := range t.responses {
		out = append(out, p.assistantPrompt(r))
		for _, c := range r.calls {
			out = append(out, c.resultPrompt())
		}
	}
	return out
}

func (p *Plan) assistantPrompt(r *response) string {
	model := jsonText("cursor", jsonText("modelName", quote(p.Model)))
	var parts []string
	if r.redacted != "" {
		parts = append(parts, jsonText("type", `"redacted-reasoning"`, "data", quote(r.redacted)))
	}
	if r.thinking != "" {
		signed := ""
		if r.signed != "" {
			signed = quote(r.signed)
		}
		parts = append(parts, jsonText("type", `"reasoning"`, "text", quote(r.thinking), "providerOptions", model, "signature", signed))
	}
	if r.text != "" {
		parts = append(parts, textPart(r.text))
	}
	for _, c := range r.calls {
		parts = append(parts, jsonText("type", `"tool-call"`, "toolCallId", quote(c.id), "toolName", quote(c.name), "args", c.input, "providerOptions", model))
	}
	return jsonText("role", `"assistant"`, "id", `"1"`, "content", jsonList(parts), "providerOptions", model)
}

func (c *call) resultPrompt() string {
	var parts []string
	for _, x := range c.content {
		if x.image != nil {
			parts = append(parts, imagePart(x.image, x.mime))
		} else {
			parts = append(parts, textPart(x.text))
		}
	}
	result := jsonList(parts)
	if len(c.content) == 1 && c.content[0].image == nil {
		result = quote(c.content[0].text)
	}
	bad := ""
	if c.failed {
		bad = "true"
	}
	return jsonText("role", `"tool"`, "id", quote(c.id), "content", jsonList([]string{jsonText("type", `"tool-result"`, "toolName", quote(c.name), "toolCallId", quote(c.id), "result", result, "isError", bad)}))
}
