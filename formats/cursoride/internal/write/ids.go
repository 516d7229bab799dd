package write

import (
	"crypto/md5"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/object"
	"rehome/formats/session"
)

// namespace begins the name of each id that is made here. It must never change, so that
// a session has the same ids whenever it is written.
const namespace = "rehome/cursor-ide/1"

// ComposerID returns the id of a session as a composer. A UUID stays, as does that of an agent
// of the SDK. Claude Code can have a subagent "agent-ID" in a session of this ID.
func ComposerID(h *session.Head) string {
	id := h.ID
	if h.Agent == session.CursorSDK {
		id = strings.TrimPrefix(id, "agent-")
	}
	if formats.IsUUID(id) {
		return strings.ToLower(id)
	}
	return filename.NamedUUID(namespace, "composer", h.Agent, h.ID)
}

// bubbleID returns the id of a bubble: that of its message if that is free, and a UUID.
func (c *composer) bubbleID(message string) string {
	if id := strings.ToLower(message); formats.IsUUID(id) {
		var key [16]byte
		hex.Decode(key[:], []byte(strings.ReplaceAll(id, "-", "")))
		if _, taken := c.ids[key]; !taken {
			c.ids[key] = struct{}{}
			return id
		}
	}
	return filename.NamedUUID(namespace, "bubble", c.id, strconv.Itoa(c.bubbles))
}

// workspace is a folder that sessions work in.
type workspace struct {
	id, path string
	uri      string
	slashed  string // path of the URI
}

// workspaceOf returns the workspace of a folder. The client makes the id of a local folder
// from its path and its inode or time of birth, so that only this machine can tell it; the
// id of a remote one is the hash of its URI, and so is that of a folder that is not here.
func workspaceOf(path string) workspace {
	if path == "" {
		return workspace{id: "empty-window"}
	}
	slashed := path
	if !strings.HasPrefix(path, "/") {
		if len(path) > 1 && path[1] == ':' {
			path = strings.ToLower(path[:1]) + path[1:] // as the client has it
		}
		slashed = strings.ReplaceAll(path, `\`, "/")
	}
	u := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(slashed, "/")}
	if host, share, ok := strings.Cut(strings.TrimPrefix(slashed, "//"), "/"); ok && strings.HasPrefix(path, `\\`) {
		u.Host, u.Path = host, "/"+share
	}
	w := workspace{path: path, uri: "file://" + u.Host + percentEncoded(u.Path), slashed: u.Path}
	w.id = folderID(w.uri, "")
	if !filepath.IsAbs(path) || u.Host != "" || strings.HasPrefix(path, "//") {
		return w // a share on another machine is not asked for
	}
	if i, err := os.Stat(path); err == nil && i.IsDir() {
		w.id = folderID(path, salt(i))
	}
	return w
}

// percentEncoded returns the path of a URI as the client writes it: it escapes everything but
// unreserved characters, and compares URIs as they are written.
func percentEncoded(path string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(path))
}

func folderID(path, salt string) string {
	sum := md5.Sum([]byte(path + salt))
	return hex.EncodeToString(sum[:])
}

// identifier appends what heads and records say of the workspace.
func (w *workspace) identifier(dst []byte) []byte {
	at := object.New(dst)
	at.Text("id", w.id)
	if w.path != "" {
		at.Name("uri")
		u := object.New(at.B)
		u.Num("$mid", 1)
		u.Text("fsPath", w.path)
		u.Text("external", w.uri)
		u.Text("path", w.slashed)
		u.Text("scheme", "file")
		at.B = u.Done()
	}
	return at.Done()
}

// WorkspaceID returns the id that the client gives to the workspace of a folder of this
// machine.
func WorkspaceID(path string) string { return workspaceOf(path).id }

// IsWorkspaceID reports whether an id is the one that a folder, as it is on this machine
// now, had or has under a path.
func IsWorkspaceID(id, path string, folder fs.FileInfo) bool {
	s := salt(folder)
	return s != "" && id == folderID(path, s)
}

// Identifier returns the workspaceIdentifier of the workspace that has an id, and was
// opened for the folder with a path.
func Identifier(id, path string) []byte {
	w := workspaceOf(path)
	w.id = id
	return w.identifier(nil)
}
