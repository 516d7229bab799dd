package cursoride

import (
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path"
	"strings"

	"rehome/formats/internal/rawjson"
)

// folder is what a workspace is of.
type folder struct {
	path string // of its machine: the folder; of a .code-workspace file, where that lies
	uri  string // as it stands, where the path does not say it all
}

// workspaceMost is more than any workspace.json holds.
const workspaceMost = 1 << 20

// readWorkspace reads a workspace.json: exactly one of folder and workspace,
// in old ones configuration. Windows without a folder have no such file.
func readWorkspace(file string) (f folder, ok bool) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > workspaceMost {
		return f, false
	}
	in, err := os.Open(file)
	if err != nil {
		return f, false
	}
	defer in.Close()
	doc, err := io.ReadAll(io.LimitReader(in, workspaceMost))
	if err != nil || !json.Valid(doc) {
		return f, false
	}
	for _, name := range [...]string{"folder", "workspace", "configuration"} {
		value := rawjson.Last(doc, name)
		text := rawjson.Text(value)
		if text == "" {
			text = uriText(value)
		}
		if text != "" {
			return byURI(text), true
		}
	}
	return f, false
}

// uriText is a URI that is spelled as an object: as VS Code keeps them.
func uriText(value []byte) string {
	if text := rawjson.Text(rawjson.Last(value, "external")); text != "" {
		return text
	}
	scheme, at := rawjson.Text(rawjson.Last(value, "scheme")), rawjson.Text(rawjson.Last(value, "path"))
	if scheme == "" || at == "" {
		return ""
	}
	u := url.URL{Scheme: scheme, Host: rawjson.Text(rawjson.Last(value, "authority")), Path: at}
	return u.String()
}

// byURI is the folder that a URI names. A remote one (vscode-remote://
// ssh-remote%2Bhost/path, wsl%2BUbuntu, dev-container%2B…) is a path on its own
// machine, which only the URI tells.
func byURI(text string) folder {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return folder{path: text}
	}
	host, at, found := strings.Cut(rest, "/")
	if at, ok = unescaped("/" + at); !ok || !found {
		return folder{uri: text}
	}
	f := folder{path: at}
	switch {
	case scheme != "file":
		f.uri = text
	case host != "": // \\host\share
		f.path = `\\` + host + strings.ReplaceAll(at, "/", `\`)
	case len(at) > 2 && at[2] == ':' && letter(at[1]): // /c:/Users
		f.path = strings.ReplaceAll(at[1:], "/", `\`)
	}
	if base := strings.TrimRight(f.path, `/\`); strings.HasSuffix(base, ".code-workspace") {
		f.uri = text
		if cut := strings.LastIndexAny(base, `/\`); cut > 0 {
			f.path = base[:cut]
		}
	}
	return f
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func unescaped(p string) (string, bool) {
	p, err := url.PathUnescape(p)
	return p, err == nil
}

// identified is the folder of a workspaceIdentifier, and the workspace's id:
// {"id":…,"uri":{…}}, of several folders "configPath", of a window without a
// folder only the id.
func identified(value []byte) (id string, f folder) {
	id = rawjson.Text(rawjson.Last(value, "id"))
	for _, name := range [...]string{"uri", "configPath"} {
		at := rawjson.Last(value, name)
		if text := rawjson.Text(at); text != "" {
			return id, byURI(text)
		}
		if text := uriText(at); text != "" {
			f = byURI(text)
			if native := rawjson.Text(rawjson.Last(at, "fsPath")); native != "" && f.uri == "" {
				f.path = native
			}
			return id, f
		}
	}
	return id, f
}

// filePath is the path of a file that a record names by URI or as a path.
func filePath(text string) string {
	if f := byURI(text); f.path != "" && strings.Contains(text, "://") {
		if scheme, _, _ := strings.Cut(text, "://"); scheme == "file" || scheme == "vscode-remote" {
			if strings.HasSuffix(text, ".code-workspace") {
				return path.Join(f.path, path.Base(text))
			}
			return f.path
		}
	}
	return text
}

// mostPicture is the largest image that is taken in.
const mostPicture = 32 << 20

// smallFile reads an ordinary file; nil if it is none, or a link.
func smallFile(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostPicture {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return b
}
