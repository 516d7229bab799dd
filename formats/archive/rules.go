package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// check applies the rules of an archive as text. The caller checks its contents after
// restoring the store, which no codec can do for another.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return &formats.Error{Format: name, At: l.Path, Err: err}
	}
	defer root.Close()
	x := &examination{ctx: ctx, q: q, view: v, r: &reader{path: l.Path, root: root, view: v, jobs: formats.Workers(v.Jobs)}}
	return x.run()
}

func (x *examination) run() error {
	if ok, err := x.documents(); !ok || err != nil {
		return err
	}
	if err := x.files(); err != nil {
		return err
	}
	x.attributes()
	x.broken = make([]bool, len(x.r.schema.Sets))
	if x.r.version > 1 && !x.r.packed {
		x.keys = keysOf(x.r.schema)
	}
	for i := range x.r.schema.Sets {
		if err := x.set(i); err != nil {
			return err
		}
	}
	return x.ctx.Err()
}

// examination applies the rules to one archive.
type examination struct {
	ctx  context.Context
	q    *rule.Pass
	view formats.View
	r    *reader

	streams map[string]int // the set that has the compressed stream of a database
	steps   int            // number of sets visited, for tests

	mu        sync.Mutex
	keys      []keys          // of version 2
	irregular map[string]bool // files already reported
	broken    []bool          // sets with an error, of which nothing more is reported
}

// spoil marks a set as broken.
func (x *examination) spoil(i int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.broken[i] = true
}

func (x *examination) found(id string, at store.Addr, pointer, says string, args ...any) {
	x.q.Report(rule.Finding{Rule: id, At: at, Pointer: pointer, Message: says, Args: args})
}

// documents checks manifest.json, and the other files that describe the archive; false if
// the rest cannot be checked.
func (x *examination) documents() (ok bool, err error) {
	file, err := x.r.load()
	at := store.Addr{File: file}
	switch pe := (*fs.PathError)(nil); {
	case err == nil:
		x.code()
		return x.listed(), nil
	case errors.As(err, &pe) && !errors.Is(err, fs.ErrNotExist):
		return false, err
	case errors.Is(err, errEdited):
		x.found("RH388", at, "", "")
	case x.q.Enabled(rule.Schema) && x.misfit(at):
	default:
		x.found("RH380", at, "", plainCause(err))
	}
	return false, nil
}

// object returns the address of an object of the schema.
func (x *examination) object(db, object int) (at store.Addr, pointer string) {
	if x.r.version == 1 {
		return store.Addr{File: manifestName}, fmt.Sprintf("/databases/%d/objects/%d", db, object)
	}
	return store.Addr{File: databasePath(x.r.schema.Databases[db].Path)}, fmt.Sprintf("/objects/%d", object)
}

// code reports triggers and other objects that run code: they are not restored.
func (x *examination) code() {
	if x.r.schema.Origin == sqlitestore.AnyDatabase || !x.q.Enabled(rule.Container) {
		return
	}
	for i, d := range x.r.schema.Databases {
		for j, o := range d.Objects {
			if what := sqliteddl.Code(o); what != "" {
				at, pointer := x.object(i, j)
				x.found("RH119", at, pointer, "%s: %s", rule.Words(what), quote(o.Name))
			}
		}
	}
}

// listed reports tables of the schema that are not in the list of tables: nothing states
// whether rows are missing, and the archive cannot be converted.
func (x *examination) listed() bool {
	all := true
	x.r.owners()
	for i, d := range x.r.schema.Databases {
		for j, o := range d.Objects {
			_, plain := sqliteddl.Define(o.SQL)
			if _, known := x.r.tables[d.Path][o.Name]; plain && o.Type == "table" && !known {
				at, pointer := x.object(i, j)
				x.found("RH380", at, pointer, "table %s is not in the list of tables", quote(o.Name))
				all = false
			}
		}
	}
	return all
}

// misfit reports where a document, if it is JSON, does not match its schema.
func (x *examination) misfit(at store.Addr) bool {
	schema := "archive-database-2"
	doc, err := x.r.document(at.File)
	if at.File == manifestName {
		schema = "archive-manifest-2"
		var head struct{ Version json.RawMessage }
		if json.Unmarshal(doc, &head) == nil && string(head.Version) == "1" {
			schema = "archive-manifest-1"
		}
	}
	return err == nil && json.Valid(doc) && !x.q.Matches(x.q.Schema(schema), doc, at, "")
}

// plainCause returns the text of an error without its place, which the finding has.
func plainCause(err error) string {
	for e := (*formats.Error)(nil); errors.As(err, &e); {
		err = e.Err
	}
	return err.Error()
}

// files assigns the files to their sets, and reports those that belong to none.
func (x *examination) files() error {
	x.irregular = map[string]bool{}
	_, err := x.r.findFiles(func(name string, irregular bool) error {
		says := ""
		if irregular {
			says = "not a regular file"
			x.irregular[name] = true
		}
		x.found("RH381", store.Addr{File: name}, "", says)
		return nil
	})
	if err != nil {
		return err
	}
	x.streams = map[string]int{}
	for i, list := range x.r.files {
		slices.Sort(list)
		if db := x.r.schema.Sets[i].File; len(list) > 0 && stream(list[0]) && x.streams[db] == 0 {
			x.streams[db] = i
		}
	}
	return nil
}

// attributes checks that .gitattributes keeps git from changing line ends, and lets it
// merge common files.
func (x *examination) attributes() {
	if !x.q.Enabled(rule.References) {
		return
	}
	b, err := fs.ReadFile(x.r.root.FS(), attributesName)
	exact, union := false, x.r.version == 1
	if err == nil && len(b) < 1<<16 {
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			exact = exact || len(f) > 1 && f[0] == "*" && (slices.Contains(f[1:], "-text") || slices.Contains(f[1:], "binary"))
			union = union || len(f) > 1 && f[0] == "*.common.ndjson" && slices.Contains(f[1:], "merge=union")
		}
	}
	switch {
	case !exact:
		x.found("RH386", store.Addr{File: attributesName}, "", "")
	case !union:
		x.found("RH386", store.Addr{File: attributesName}, "", "no line \"*.common.ndjson merge=union\"")
	}
}

// lost reports a set that has records but no file.
func (x *examination) lost(i int) bool {
	set, claim := &x.r.schema.Sets[i], x.r.claims[i]
	at := store.Addr{File: set.File}
	if set.Kind == store.Table {
		at.File = tablePath(set.File, set.Name) + ".ndjson"
		list := x.r.files[x.first(i)]
		if x.r.version == 1 && claim.rows == 0 || x.r.version == 1 && len(list) > 0 || slices.Contains(list, at.File) || len(list) > 0 && stream(list[0]) {
			return false
		}
	} else if len(x.r.files[i]) > 0 {
		return false
	}
	if x.q.Enabled(rule.References) && !x.irregular[at.File] {
		says, args := "", []any(nil)
		if set.Kind == store.Table && x.r.version == 1 {
			says, args = "%v missing; there is no folder of that name either", []any{rule.Count(claim.rows, "row")}
		}
		x.found("RH382", at, "", says, args...)
	}
	return true
}

// first returns the set that has the files of a set: a stream contains all tables of its
// database.
func (x *examination) first(i int) int {
	x.steps++
	if len(x.r.files[i]) > 0 {
		return i
	}
	if j, ok := x.streams[x.r.schema.Sets[i].File]; ok {
		return j
	}
	return i
}
