package sdkstore

import (
	"encoding/json"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
)

// plan is how the databases are to be built: the SDK's own way, but for what
// an earlier reader told as leftover. Leftover is text that others can have
// edited: a place must lie inside the store, a cell must find the line it was
// told of, and the door to SQLite looks at every statement.
type plan struct {
	root   string // of the state root inside the store: "" or "sdk-agent-store/…/"
	bases  map[string]*base
	agents map[string]string // path of an agent's database, where it is told
	files  []*store.SidecarItem

	superseded []*store.SidecarItem // by another version of the same row
}

// base is one database of the plan.
type base struct {
	path   string
	agent  string
	design *Design
	told   bool                                    // it is there whether or not it has a row
	made   bool                                    // it was begun
	items  []*store.SidecarItem                    // all that is told of it
	cells  map[string]map[int][]*store.SidecarItem // by table and line
	loose  map[string]looseItems                   // of parts of a store, by table
	rows   map[string][]*store.SidecarItem         // that no line was made of, by table
	bare   map[string]bool                         // tables without the rows they always have
}

func newPlan(leftover []store.SidecarItem) (*plan, error) {
	p := &plan{bases: map[string]*base{}, agents: map[string]string{}}
	for i := range leftover {
		it := &leftover[i]
		if _, lines := sdkdoc.KindOf(it.At.File); lines || sdkdoc.IsOmission(it) || len(it.Row) == 0 {
			continue
		}
		if _, err := filepath.Localize(it.At.File); err != nil || path.Clean(it.At.File) != it.At.File {
			return nil, &formats.Error{Format: FormatName, Op: "sidecar", At: it.At.File, Err: errors.New("not a valid path inside a store"), Hint: "use --sidecar none to leave it out"}
		}
		if it.At.Set == "" {
			if !stray(it.At.File) {
				return nil, &formats.Error{Format: FormatName, Op: "sidecar", At: it.At.File, Err: errors.New("a file of this name cannot be next to the databases"), Hint: "use --sidecar none to leave it out"}
			}
			p.files = append(p.files, it)
			continue
		}
		if err := p.take(it); err != nil {
			return nil, err
		}
	}
	p.settle()
	return p, nil
}

// settle chooses where a sidecar that others have had in their hands speaks of
// several places: the first root, and in it the first database of an agent.
func (p *plan) settle() {
	paths := slices.Sorted(maps.Keys(p.bases))
	if i := slices.IndexFunc(paths, isIndex); i >= 0 {
		p.root = strings.TrimSuffix(paths[i], IndexName)
	}
	for _, at := range paths {
		id := p.bases[at].agent
		had := p.agents[id]
		if id != "" && (had == "" || !strings.HasPrefix(had, p.root) && strings.HasPrefix(at, p.root)) {
			p.agents[id] = at
		}
	}
}

func isIndex(at string) bool { return path.Base(at) == IndexName }

// stray reports whether a file may lie beside the databases: not in the place of
// one, of the transcripts' folder, or of a log, which would change a database
// after it was verified.
func stray(file string) bool {
	base := strings.ToLower(path.Base(file))
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		if strings.HasSuffix(base, end) {
			return false
		}
	}
	return base != IndexName && base != StoreName && base != sdkdoc.Transcripts
}

func (p *plan) take(it *store.SidecarItem) error {
	b := p.base(it.At.File)
	b.items = append(b.items, it)
	switch {
	case it.At.Set == SchemaSet:
		b.told = true
		if it.At.Key.Class == store.Text {
			b.agent = string(it.At.Key.Bytes())
		}
		if it.Row[0].Class != store.Text {
			return nil
		}
		d := &Design{}
		if err := json.Unmarshal(it.Row[0].Bytes(), d); err != nil {
			return &formats.Error{Format: FormatName, Op: "sidecar", At: it.At.File, Err: errors.New("invalid schema"), Hint: "use --sidecar none to leave it out"}
		}
		b.design = d
	case it.At.Line > 0 && it.Part != "":
		if b.loose[it.At.Set] == nil {
			b.loose[it.At.Set] = looseItems{}
		}
		b.loose[it.At.Set][it.Digest] = append(b.loose[it.At.Set][it.Digest], it)
	case it.At.Line > 0:
		if b.cells[it.At.Set] == nil {
			b.cells[it.At.Set] = map[int][]*store.SidecarItem{}
		}
		b.cells[it.At.Set][it.At.Line] = append(b.cells[it.At.Set][it.At.Line], it)
	case it.At.Set == MetaTable && len(it.Row) == 1 && it.Row[0].Class == store.Null:
		b.bare[it.At.Set] = true
	default:
		for _, c := range it.Row {
			if c.Class == store.Withheld {
				return nil // what is left of a row whose secret stayed home
			}
		}
		p.row(b, it)
	}
	return nil
}

// row enters a row that no line was made of. Two versions of one row are what a merge
// leaves where two people continued an agent: the last one counts.
func (p *plan) row(b *base, it *store.SidecarItem) {
	rows := b.rows[it.At.Set]
	i := -1
	if it.Part != "" && it.At.HasID {
		i = slices.IndexFunc(rows, func(r *store.SidecarItem) bool { return r.Part == it.Part && r.At.HasID && r.At.RowID == it.At.RowID })
	}
	if i < 0 {
		b.rows[it.At.Set] = append(rows, it)
		return
	}
	p.superseded = append(p.superseded, rows[i])
	rows[i] = it
}

func (p *plan) base(at string) *base {
	b := p.bases[at]
	if b == nil {
		b = &base{path: at, design: storeDesign(), cells: map[string]map[int][]*store.SidecarItem{}, loose: map[string]looseItems{}, rows: map[string][]*store.SidecarItem{}, bare: map[string]bool{}}
		if path.Base(at) == IndexName {
			b.design = indexDesign()
		}
		p.bases[at] = b
	}
	return b
}

// index is the plan of the catalog.
func (p *plan) index() *base { return p.base(p.root + IndexName) }

// agentStore is the plan of an agent's database.
func (p *plan) agentStore(agent string) *base {
	at := p.agents[agent]
	if at == "" {
		at = p.root + StorePath(agent)
	}
	b := p.base(at)
	b.agent = agent
	return b
}

// Rootless returns the path of a database below its state root: what is told of one
// agent must not name the folder of the project, which differs between machines.
func Rootless(file string) string {
	names := strings.Split(file, "/")
	switch n := len(names); {
	case isIndex(file):
		return IndexName
	case n > 3 && names[n-3] == "agents" && names[n-1] == StoreName:
		return path.Join(names[n-3:]...)
	}
	return file
}

// Rooted returns items with the paths of databases below the state root that those of
// the whole store name.
func Rooted(items []store.SidecarItem) []store.SidecarItem {
	root := ""
	for _, it := range items {
		if it.Part == "" && it.At.Set != "" && isIndex(it.At.File) && root == "" {
			root = strings.TrimSuffix(it.At.File, IndexName)
		}
	}
	if root == "" {
		return items
	}
	items = slices.Clone(items)
	for i := range items {
		if it := &items[i]; it.Part != "" && (path.Base(it.At.File) == IndexName || path.Base(it.At.File) == StoreName) {
			it.At.File = root + it.At.File
		}
	}
	return items
}

// uprooted is what was told of a folder around a state root, as it would have
// been told of the state root alone.
func uprooted(leftover []store.SidecarItem) []store.SidecarItem {
	var roots []string
	for _, it := range leftover {
		if it.At.Set != "" && isIndex(it.At.File) {
			roots = append(roots, it.At.File)
		}
	}
	if len(roots) == 0 {
		return leftover
	}
	root := strings.TrimSuffix(slices.Min(roots), IndexName)
	out := slices.Clone(leftover)
	for i := range out {
		out[i].At.File = strings.TrimPrefix(out[i].At.File, root)
	}
	return out
}
