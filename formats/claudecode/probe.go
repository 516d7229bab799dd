package claudecode

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/rawjson"
)

// probe knows a config folder, a project's folder and a session's file.
func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if l.Regular() {
		if what := begins(l.Head()); what != "" && strings.EqualFold(filepath.Ext(l.Path), ending) {
			return formats.Match{Score: 85, Evidence: []string{what}}, nil
		}
		return formats.Match{}, nil
	}
	if !l.Dir() {
		return formats.Match{}, nil
	}
	if l.Has("projects") {
		list, _ := os.ReadDir(filepath.Join(l.Path, "projects"))
		for _, e := range list {
			if what := project(filepath.Join(l.Path, "projects", e.Name())); e.IsDir() && what != "" {
				return formats.Match{Score: 90, Evidence: []string{"it has a folder projects with a project in it", what}}, nil
			}
		}
		return formats.Match{}, nil
	}
	if what := project(l.Path); what != "" {
		return formats.Match{Score: 90, Evidence: []string{what}}, nil
	}
	return formats.Match{}, nil
}

// project says what makes a folder a project's.
func project(dir string) string {
	list, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), ending)
		if !ok || !isUUID(id) || !e.Type().IsRegular() {
			continue
		}
		if l, err := formats.Locate(filepath.Join(dir, e.Name())); err == nil {
			if what := begins(l.Head()); what != "" {
				return "a file named by a UUID, in which " + what
			}
		}
	}
	return ""
}

// begins says what the first line has that only these files have. It may be cut
// off.
func begins(head []byte) string {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if len(line) == 0 || line[0] != '{' {
		return ""
	}
	has := map[string]string{}
	for n, v := range rawjson.Members(line) {
		has[string(n)] = rawjson.Text(v)
	}
	_, parent := has["parentUuid"]
	_, side := has["isSidechain"]
	_, of := has["sessionId"]
	_, leaf := has["leafUuid"]
	switch kind := has["type"]; {
	case parent && side:
		return "a line has a parentUuid and isSidechain"
	case of && isUUID(has["sessionId"]) && kind != "":
		return "a line of type " + kind + " has a sessionId"
	case leaf && kind == "summary":
		return "a line of type summary has a leafUuid"
	}
	if bytes.HasPrefix(line, []byte(`{"type":"file-history-snapshot","messageId":"`)) {
		return "a line is a snapshot of files"
	}
	return ""
}
