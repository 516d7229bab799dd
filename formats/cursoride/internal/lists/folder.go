package lists

import (
	"encoding/json"
	"io"
	"net/url"
	"os"
	"strings"

	"rehome/internal/rawjson"
)

// Folder is the folder that a workspace was opened for.
type Folder struct {
	Path string // of its machine: the folder; of a .code-workspace file, where that lies
	URI  string // as it stands, where the path does not say it all
}

// MaxWorkspace is the size of the largest workspace.json that is read.
const MaxWorkspace = 1 << 20

// ReadWorkspace reads a workspace.json: exactly one of folder and workspace,
// in old ones configuration. Windows without a folder have no such file.
func ReadWorkspace(file string) (f Folder, ok bool) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > MaxWorkspace {
		return f, false
	}
	in, err := os.Open(file)
	if err != nil {
		return f, false
	}
	defer in.Close()
	doc, err := io.ReadAll(io.LimitReader(in, MaxWorkspace))
	if err != nil || !json.Valid(doc) {
		return f, false
	}
	for _, name := range [...]string{"folder", "workspace", "configuration"} {
		value := rawjson.Last(doc, name)
		text := rawjson.Text(value)
		if text == "" {
			text = URIText(value)
		}
		if text != "" {
			return ByURI(text), true
		}
	}
	return f, false
}

// URIText returns a URI that is an object, as VS Code writes them.
func URIText(value []byte) string {
	if text := rawjson.TextAt(value, "external"); text != "" {
		return text
	}
	scheme, at := rawjson.TextAt(value, "scheme"), rawjson.TextAt(value, "path")
	if scheme == "" || at == "" {
		return ""
	}
	u := url.URL{Scheme: scheme, Host: rawjson.TextAt(value, "authority"), Path: at}
	return u.String()
}

// ByURI returns the folder that a URI names. A remote one (vscode-remote://
// ssh-remote%2Bhost/path, wsl%2BUbuntu, dev-container%2B…) is a path on its own
// machine, which only the URI tells.
func ByURI(text string) Folder {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return Folder{Path: text}
	}
	host, at, found := strings.Cut(rest, "/")
	if at, ok = unescaped("/" + at); !ok || !found {
		return Folder{URI: text}
	}
	f := Folder{Path: at}
	switch {
	case scheme != "file":
		f.URI = text
	case host != "": // \\host\share
		f.Path = `\\` + host + strings.ReplaceAll(at, "/", `\`)
	case len(at) > 2 && at[2] == ':' && letter(at[1]): // /c:/Users
		f.Path = strings.ReplaceAll(at[1:], "/", `\`)
	}
	if base := strings.TrimRight(f.Path, `/\`); strings.HasSuffix(base, ".code-workspace") {
		f.URI = text
		if cut := strings.LastIndexAny(base, `/\`); cut > 0 {
			f.Path = base[:cut]
		}
	}
	return f
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func unescaped(p string) (string, bool) {
	p, err := url.PathUnescape(p)
	return p, err == nil
}

// Identified returns the id and the folder of a workspaceIdentifier:
// {"id":…,"uri":{…}}, of several folders "configPath", of a window without a
// folder only the id.
func Identified(value []byte) (id string, f Folder) {
	id = rawjson.TextAt(value, "id")
	for _, name := range [...]string{"uri", "configPath"} {
		at := rawjson.Last(value, name)
		if text := rawjson.Text(at); text != "" {
			return id, ByURI(text)
		}
		if text := URIText(at); text != "" {
			f = ByURI(text)
			if native := rawjson.TextAt(at, "fsPath"); native != "" && f.URI == "" {
				f.Path = native
			}
			return id, f
		}
	}
	return id, f
}
