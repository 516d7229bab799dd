package sdkwrite

import (
	"embed"
	"strings"
	"sync"

	"rehome/formats/session"
	"rehome/internal/rawjson"
)

//go:embed events.txt
var tables embed.FS

// field is a member that events have of a call.
type field struct {
	name, value string
	todos       bool
}

// projection is what events have of the calls of one kind.
type projection struct{ args, result []field }

// maxFields is how many members a projection can have.
const maxFields = 12

// projections is events.txt by kind.
var projections = sync.OnceValue(func() map[string]projection {
	text, err := tables.ReadFile("events.txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	all := map[string]projection{}
	for line := range strings.Lines(string(text)) {
		if column := strings.Split(line, "|"); len(column) == 3 {
			all[strings.TrimSpace(column[0])] = projection{fields(column[1]), fields(column[2])}
		}
	}
	return all
})

func fields(text string) (out []field) {
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		bare, todos := strings.CutSuffix(name, "~")
		out = append(out, field{bare, value, todos})
	}
	return out
}

// appendFields appends an object with these members of another.
func appendFields(dst []byte, from session.Raw, list []field) []byte {
	var found [maxFields][]byte
	for name, value := range rawjson.Members(from) {
		for i := range list {
			if list[i].name == string(name) {
				found[i] = value
			}
		}
	}
	between := byte('{')
	for i, f := range list {
		value := found[i]
		if value == nil || string(value) == "null" {
			if f.value == "" {
				continue
			}
			value = []byte(f.value)
		}
		dst = append(append(append(dst, between, '"'), f.name...), `":`...)
		between = ','
		switch {
		case f.todos:
			dst = appendTodos(dst, value)
		case f.value == "0" && value[0] == '"':
			dst = rawjson.AppendText(dst, value) // 64-bit numbers are text in checkpoints
		default:
			dst = append(dst, value...)
		}
	}
	if between == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}

// appendTodos appends todos as events have them: with a status of "inProgress" for what the
// checkpoint calls IN_PROGRESS after the name of the enum.
func appendTodos(dst []byte, list []byte) []byte {
	dst = append(dst, '[')
	for item := range rawjson.Elements(list) {
		if dst[len(dst)-1] == '}' {
			dst = append(dst, ',')
		}
		_, status, _ := strings.Cut(rawjson.TextAt(item, "status"), "_STATUS_")
		word := strings.ReplaceAll(strings.ToLower(status), "in_p", "inP")
		dst = quote(append(dst, `{"content":`...), rawjson.TextAt(item, "content"))
		dst = append(appendMember(dst, "status", word), '}')
	}
	return append(dst, ']')
}

// appendResult appends a result as events have it: that of a command that failed is a
// success, and of any other failure there is a message.
func appendResult(dst []byte, kind string, value session.Raw, list []field) []byte {
	status, own := "", []byte(nil)
	for name, v := range rawjson.Members(value) {
		if len(v) > 0 && v[0] == '{' {
			status, own = string(name), v
		}
	}
	if status == "success" || kind == "shell" && status == "failure" {
		dst = append(dst, `{"status":"success"`...)
		if len(list) > 0 {
			dst = appendFields(append(dst, `,"value":`...), own, list)
		}
		return append(dst, '}')
	}
	problem := []byte(nil)
	for name, v := range rawjson.Members(own) {
		switch string(name) {
		case "error", "errorMessage", "message", "reason":
			if rawjson.IsText(v) {
				problem = v
			}
		}
	}
	dst = append(dst, `{"status":"error","error":{"message":`...)
	if problem != nil {
		dst = append(dst, problem...)
	} else {
		dst = quote(dst, status)
	}
	return append(dst, `}}`...)
}
