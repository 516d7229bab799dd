package fleet

import (
	"hash/maphash"
	"path"
	"regexp"
	"strings"

	"rehome/formats"
)

// sign is a name that was seen in a folder, or below it.
type sign uint16

const (
	manifest sign = 1 << iota
	attributes
	rows // an archive's description of a database, or its rows
	sdkIndex
	sdkPlace // agents below it, or the folder of the SDK around it
	chatFile
	documents
	split
	splitAgent
	ideGlobal
	rollouts
	transcripts
)

// folderRules are the stores that are folders, by what is in them. Where several hold, the
// first one does; of nested folders the outer one is the store.
var folderRules = []struct {
	kind   string
	signs  sign
	member func(rel string) bool // nil: everything below the folder
}{
	{"archive", manifest | attributes | rows, func(rel string) bool { return !databases.MatchString(path.Base(rel)) }},
	{"cursor-sdk", sdkIndex | sdkPlace, func(rel string) bool {
		return strings.HasPrefix(rel, "agents/") || !fileNames.MatchString(path.Base(rel))
	}},
	{"cursor-ndjson", split | splitAgent, nil},
	{"cursor-ndjson", documents, func(rel string) bool { return !strings.Contains(rel, "/") && !fileNames.MatchString(rel) }},
	{"cursor-chat", chatFile, nil},
	{"cursor-ide", ideGlobal, regexp.MustCompile(`^(globalStorage|workspaceStorage/[^/]+)/(state\.vscdb(-wal|-shm|-journal)?|workspace\.json)$`).MatchString},
	{"codex", rollouts, regexp.MustCompile(`(^|/)rollout-[^/]*\.jsonl(\.zst)?$`).MatchString},
	{"cursor-transcript", transcripts, regexp.MustCompile(`\.(jsonl|txt)$`).MatchString},
}

var (
	day = regexp.MustCompile(`(^|/)\d{4}/\d{2}/\d{2}$`)
	// fileNames are the stores that are files: the name, without what belongs to it.
	fileNames = regexp.MustCompile(databases.String() + `|\.jsonl(\.gz|\.zst)?$`)
	databases = regexp.MustCompile(`^(store\.db|state\.vscdb)(-wal|-shm|-journal)?$`)
	fileSides = regexp.MustCompile(`(-wal|-shm|-journal)$`)
	// What an archive has besides the two names that other folders have, too: rows, or the
	// description of a database. Those of a store of several databases are in their folders.
	rowNames   = regexp.MustCompile(`^database\.json$|\.ndjson(\.gz|\.zst)?$`)
	shardNames = regexp.MustCompile(`^[0-9a-f]{2}$`)
	inDatabase = regexp.MustCompile(`^(.*)/[^/]+\.(db|vscdb)/`)
)

const sidecarEnding = ".sidecar.ndjson"

// parent returns the folder of a slash path, "" for the top.
func parent(key string) string { return key[:max(0, strings.LastIndexByte(key, '/'))] }

// signOf returns the folder for which a key is a sign, and which.
func signOf(key string) (root string, s sign) {
	dir, base := parent(key), path.Base(key)
	switch base {
	case "manifest.json":
		return dir, manifest
	case ".gitattributes":
		return dir, attributes
	case "database.json":
		return dir, attributes | rows
	case "index.db":
		if path.Base(parent(dir)) == "sdk-agent-store" {
			return dir, sdkIndex | sdkPlace
		}
		return dir, sdkIndex
	case "store.db":
		if up := parent(dir); path.Base(up) == "agents" && strings.HasPrefix(path.Base(dir), "agent-") {
			return parent(up), sdkPlace
		}
		if formats.IsUUID(path.Base(dir)) {
			return dir, chatFile
		}
	case "agents.ndjson", "runs.ndjson":
		return dir, documents
	case "rehome.json":
		return dir, split
	case "state.vscdb":
		if path.Base(dir) == "globalStorage" {
			return parent(dir), ideGlobal
		}
	}
	if strings.HasPrefix(base, "rollout-") && (strings.HasSuffix(base, ".jsonl") || strings.HasSuffix(base, ".jsonl.zst")) {
		return strings.TrimSuffix(dir[:len(dir)-len(day.FindString(dir))], "/"), rollouts
	}
	if before, _, found := strings.Cut("/"+key, "/agent-transcripts/"); found && (path.Ext(base) == ".jsonl" || path.Ext(base) == ".txt") {
		return strings.TrimPrefix(before+"/agent-transcripts", "/"), transcripts
	}
	return "", 0
}

// names knows which folders are stores: a hash and the signs of each, so that a bucket of
// millions of stores fits into memory.
type names struct {
	seed  maphash.Seed
	signs map[uint64]sign
}

func newNames() *names { return &names{maphash.MakeSeed(), map[uint64]sign{}} }

// see takes note of a key.
func (n *names) see(key string) {
	n.seeRows(key)
	root, s := signOf(key)
	if s == 0 {
		return
	}
	n.signs[maphash.String(n.seed, root)] |= s
	if s == documents && root != "" {
		n.signs[maphash.String(n.seed, parent(root))] |= splitAgent
	}
}

// seeRows takes note of the folders that may be an archive because of a key.
func (n *names) seeRows(key string) {
	if !rowNames.MatchString(path.Base(key)) {
		return
	}
	if dir := parent(key); !shardNames.MatchString(path.Base(dir)) {
		n.signs[maphash.String(n.seed, dir)] |= rows
	}
	around := inDatabase.FindStringSubmatch("/" + key)
	if around == nil {
		return
	}
	dir := strings.TrimPrefix(around[1], "/")
	for range maxAround {
		if n.signs[maphash.String(n.seed, dir)] |= rows; dir == "" {
			return
		}
		dir = parent(dir)
	}
}

// maxAround is how many folders an archive can have around a database.
const maxAround = 5

// folder returns the kind of store that a folder is, and its rule; "" if it is none.
func (n *names) folder(dir string) (kind string, member func(string) bool) {
	s := n.signs[maphash.String(n.seed, dir)]
	if s == 0 {
		return "", nil
	}
	for _, r := range folderRules {
		if s&r.signs == r.signs {
			return r.kind, r.member
		}
	}
	return "", nil
}

// owner returns the store that a key belongs to by its folders, "" and an empty kind if none.
func (n *names) owner(key string) (root, kind string) {
	for i := -1; ; {
		dir := key[:max(0, i)]
		if kind, member := n.folder(dir); kind != "" && (member == nil || member(strings.TrimPrefix(key[len(dir):], "/"))) {
			return dir, kind
		}
		next := strings.IndexByte(key[i+1:], '/')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	if side, ok := strings.CutSuffix(key, sidecarEnding); ok {
		if kind, _ := n.folder(side); kind != "" {
			return side, kind
		}
	}
	return "", ""
}

// fileStore returns the store that a key is by its name alone, or is a side file of.
func fileStore(key string) (file, kind string) {
	base := path.Base(key)
	if !fileNames.MatchString(base) {
		return "", ""
	}
	file = key[:len(key)-len(fileSides.FindString(base))]
	switch dir := parent(key); {
	case strings.HasPrefix(base, "store.db"):
		return file, "cursor-chat"
	case strings.HasPrefix(base, "state.vscdb"):
		return file, "cursor-ide"
	case path.Base(parent(dir)) == "projects":
		return file, "claude-code"
	}
	return file, "lines"
}
