package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
	"rehome/testdata/ide"
)

// drawing is a picture of its own for each size.
func drawing(t *testing.T, kind string, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	m := image.NewGray(image.Rect(0, 0, side, side))
	switch kind {
	case "png":
		err = png.Encode(&b, m)
	case "jpeg":
		err = jpeg.Encode(&b, m, nil)
	default:
		err = gif.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMigrateImages: pictures of prompts, wherever the editor keeps them, and
// those of results reach the model; what cannot is named and noted.
func TestMigrateImages(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const space = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1"
	inline, filed, indexed, selected, result := drawing(t, "png", 2), drawing(t, "png", 3), drawing(t, "jpeg", 4), drawing(t, "gif", 5),
		drawing(t, "png", 6)
	quoted := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), "'", "''")
	}
	type doc map[string]any
	var members []string
	for i, c := range indexed {
		members = append(members, fmt.Sprintf("%q:%d", fmt.Sprint(i), c))
	}
	byIndex := json.RawMessage("{" + strings.Join(members, ",") + "}")
	at := func(name string) string {
		return "/home/ana/.config/Cursor/User/workspaceStorage/" + space + "/images/" + name
	}
	prompt := doc{"_v": 3, "type": 1, "bubbleId": "u1", "text": "look at this",
		"images": []doc{{"uuid": "i1", "data": base64.StdEncoding.EncodeToString(inline)}, {"path": at("shot.png")}, {"data": byIndex},
			{"path": "/elsewhere/x.png"}, {"data": base64.StdEncoding.EncodeToString([]byte("\x89PNG broken"))}},
		"context": doc{"fileSelections": []doc{{"uri": doc{"path": "/home/ana/shop/attached.go"}}},
			"selectedImages": []doc{{"path": at("selected.gif")}}}}
	came := doc{"content": []doc{{"type": "text", "text": "a screenshot"},
		{"type": "image", "mimeType": "image/png", "data": base64.StdEncoding.EncodeToString(result)}}}
	call := doc{"_v": 3, "type": 2, "bubbleId": "t1", "toolFormerData": doc{"tool": 49, "toolCallId": "c1", "name": "mcp_browser_shot",
		"status": "completed", "params": quoted(doc{"server": "browser", "toolName": "shot"}), "result": quoted(came)}}
	script := "-- file: workspaceStorage/" + space + "/workspace.json\n{\"folder\":\"file:///home/ana/shop\"}\n" +
		"-- file: globalStorage/state.vscdb\nCREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);\nCREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);\nINSERT INTO cursorDiskKV VALUES\n" +
		" ('composerData:c1', '" + quoted(doc{"_v": 18, "composerId": "c1", "createdAt": 1785000000000,
		"fullConversationHeadersOnly": []doc{{"bubbleId": "u1", "type": 1}, {"bubbleId": "t1", "type": 2}}}) + "'),\n" +
		" ('bubbleId:c1:u1', '" + quoted(prompt) + "'),\n ('bubbleId:c1:t1', '" + quoted(call) + "');\n"
	user := filepath.Join(dir, "User")
	if err := ide.Build(user, script); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"shot.png": filed, "selected.gif": selected} {
		path := filepath.Join(user, "workspaceStorage", space, "images", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, code := callWith(t, t.Context(), map[string]string{console.HomeVariable(): dir}, "migrate", user, "--cwd", dir, "--losses")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"1 image or file whose content", "1 image or file of a type"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("not noted: %s\n%s", want, stdout)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var images []string
	for line := range bytes.Lines(text) {
		var l struct {
			Message struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		images = append(images, pictures(l.Message.Content)...)
	}
	var want []string
	for mime, data := range map[string][]byte{"image/png 1": inline, "image/png 2": filed, "image/jpeg": indexed, "image/gif": selected, "image/png 3": result} {
		want = append(want, strings.Fields(mime)[0]+" "+base64.StdEncoding.EncodeToString(data))
	}
	slices.Sort(images)
	slices.Sort(want)
	if !slices.Equal(images, want) {
		t.Errorf("%d images arrive, want %d:\n%s", len(images), len(want), strings.Join(images, "\n"))
	}
	for _, words := range []string{"/elsewhere/x.png", "attached.go", "a screenshot"} {
		if !bytes.Contains(text, []byte(words)) {
			t.Errorf("%s is not told", words)
		}
	}
}

// pictures are the images in a content, those in results included.
func pictures(content json.RawMessage) (out []string) {
	var blocks []struct {
		Type    string
		Content json.RawMessage
		Source  struct {
			MediaType string `json:"media_type"`
			Data      string
		}
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil // a text
	}
	for _, b := range blocks {
		if b.Type == "image" {
			out = append(out, b.Source.MediaType+" "+b.Source.Data)
		}
		out = append(out, pictures(b.Content)...)
	}
	return out
}
