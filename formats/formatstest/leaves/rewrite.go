package leaves

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// RewriteAgentLines is the Rewrite of what AgentLines walks over: the lines, and the blobs in them.
func RewriteAgentLines(t testing.TB, from, dir string, kinds []string, change func(Doc)) string {
	t.Helper()
	to := filepath.Join(dir, filepath.Base(from))
	copyTo(t, from, to)
	r := newRewriter(AgentLines()(t, from, kinds), change)
	for _, name := range agentFiles {
		path := filepath.Join(to, name)
		if !exists(path) {
			continue
		}
		var out []byte
		n := 0
		for line := range bytes.Lines(read(t, path)) {
			n++
			if doc, err := Parse(line); err == nil && doc.Kind == '{' {
				r.line(name, n, doc)
				line = append(doc.Append(nil), '\n')
			}
			out = append(out, line...)
		}
		if err := os.WriteFile(path, out, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// RewriteAgentStore is the Rewrite of what AgentStore and Chat walk over.
func RewriteAgentStore(walk Walk) Rewrite {
	return func(t testing.TB, from, dir string, kinds []string, change func(Doc)) string {
		t.Helper()
		to := filepath.Join(dir, filepath.Base(from))
		copyTo(t, from, to)
		r := newRewriter(walk(t, from, kinds), change)
		for _, at := range append(named(t, to, "index.db"), named(t, to, "store.db")...) {
			r.database(t, at, filepath.Base(at)+"/", 16)
		}
		if info, err := os.Stat(to); err == nil && !info.IsDir() {
			r.database(t, to, "", 12)
		}
		return to
	}
}

func copyTo(t testing.TB, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err == nil && info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		err = os.WriteFile(to, read(t, from), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rewriter changes the documents of a store.
type rewriter struct {
	change func(Doc)
	kinds  map[string]string // of records, by their addresses
	ids    map[string]bool   // of blobs, as they begin in addresses
}

func newRewriter(records func(func(Record) bool), change func(Doc)) *rewriter {
	r := &rewriter{change: change, kinds: map[string]string{}, ids: map[string]bool{}}
	for one := range records {
		r.kinds[one.At] = one.Kind
		if _, id, ok := strings.Cut(one.At, " ("); ok {
			id, _, _ = strings.Cut(id, ")")
			r.ids[id] = true
		}
	}
	return r
}

func (r *rewriter) line(name string, n int, doc *Node) {
	data := doc.Member("dataBase64")
	if name != "checkpoints.ndjson" || data == nil {
		r.change(Doc{r.kinds[fmt.Sprintf("%s:%d", name, n)], "", doc})
		return
	}
	if b, err := base64.StdEncoding.DecodeString(data.Value); err == nil {
		at := fmt.Sprintf("%s (%.16s):%d", name, doc.text("blobId"), n)
		data.Value = base64.StdEncoding.EncodeToString(r.blob(at, b))
	}
}

// blob changes a blob, if it is a document or a message.
func (r *rewriter) blob(at string, b []byte) []byte {
	if doc, err := Parse(b); err == nil && doc.Kind == '{' {
		r.change(Doc{r.kinds[at], "", doc})
		return doc.Append(nil)
	}
	root := r.message(b, 0)
	if root == nil {
		return b
	}
	r.change(Doc{r.kinds[at], "", root})
	return appendMessage(nil, root)
}

// The kinds of nodes that only messages have: numbers of fixed width, bytes, and what can be
// an entry of a map, to which no client can add a field.
const (
	kindFixed64 = 'q'
	kindFixed32 = 'd'
	kindBytes   = 'b'
	kindEntry   = 'm'
)

// message returns the fields of a message as the members of an object, nil if it is none.
func (r *rewriter) message(b []byte, depth int) *Node {
	list, ok := fields(b)
	if !ok || depth > maxDepth {
		return nil
	}
	out := &Node{Kind: '{'}
	for _, f := range list {
		n := &Node{Kind: '0', Value: strconv.FormatUint(f.value, 10)}
		switch f.wire {
		case 1:
			n = &Node{Kind: kindFixed64, Value: string(binary.LittleEndian.AppendUint64(nil, f.value))}
		case 5:
			n = &Node{Kind: kindFixed32, Value: string(binary.LittleEndian.AppendUint32(nil, uint32(f.value)))}
		case 2:
			n = &Node{Kind: kindBytes, Value: string(f.body)}
			id := hex.EncodeToString(f.body)
			switch inner := r.message(f.body, depth+1); {
			case len(f.body) == idLength && (r.ids[id[:16]] || r.ids[id[:12]]) || len(f.body) == 0:
			case isText(f.body) && !wraps(f.body):
				n.Kind = '"'
			case inner != nil:
				if n = inner; slices.Equal(n.Names, []string{"1", "2"}) && n.Items[0].Kind == '"' && n.Items[1].Kind != '"' {
					n.Kind = kindEntry
				}
			}
		}
		out.Names, out.Items = append(out.Names, strconv.Itoa(f.number)), append(out.Items, n)
	}
	return out
}

// unknownField is the number of a field that no client writes.
const unknownField = 4000

func appendMessage(dst []byte, n *Node) []byte {
	for i, item := range n.Items {
		number, err := strconv.Atoi(n.Names[i])
		if err != nil {
			number = unknownField
		}
		wire, body := 2, []byte(item.Value)
		switch item.Kind {
		case '0':
			v, _ := strconv.ParseUint(item.Value, 10, 64)
			wire, body = 0, binary.AppendUvarint(nil, v)
		case 't':
			wire, body = 0, []byte{1}
		case kindFixed64:
			wire = 1
		case kindFixed32:
			wire = 5
		case '{', kindEntry:
			body = appendMessage(nil, item)
		}
		dst = binary.AppendUvarint(dst, uint64(number)<<3|uint64(wire))
		if wire == 2 {
			dst = binary.AppendUvarint(dst, uint64(len(body)))
		}
		dst = append(dst, body...)
	}
	return dst
}

// database changes the cells of a database.
func (r *rewriter) database(t testing.TB, path, name string, digits int) {
	t.Helper()
	update(t, path, func(one row) map[string]string {
		out := map[string]string{}
		for _, column := range slices.Sorted(maps.Keys(one.cells)) {
			out[column] = r.cell(one, name, column, digits)
		}
		return out
	})
}

// update changes rows of a database: to gives the new texts of their cells, by columns.
func update(t testing.TB, path string, to func(one row) map[string]string) {
	t.Helper()
	rows := database(t, path)
	db := opened(t, path)
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA synchronous = OFF; BEGIN"); err != nil {
		t.Fatal(err)
	}
	for _, one := range rows {
		cells := to(one)
		for _, column := range slices.Sorted(maps.Keys(cells)) {
			now := cells[column]
			if now == one.text(column) {
				continue
			}
			var value any = now
			if _, ok := one.cells[column].([]byte); ok {
				value = []byte(now)
			}
			where, key := "rowid = ?", []any{value, one.id}
			if one.id == 0 {
				where, key = "run_id = ? AND seq = ?", []any{value, one.cells["run_id"], one.cells["seq"]}
			}
			if _, err := db.Exec(fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s", one.table, column, where), key...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := db.Exec("COMMIT"); err != nil {
		t.Fatal(err)
	}
}

// cell returns the changed text of a cell.
func (r *rewriter) cell(one row, name, column string, digits int) string {
	value, at := one.text(column), fmt.Sprintf("%s%s#%d", name, one.table, one.id)
	if one.table == "blobs" {
		if column != "data" {
			return value
		}
		return string(r.blob(fmt.Sprintf("%s (%.*s)", at, digits, one.text("id")), []byte(value)))
	}
	kind := r.kinds[at]
	if one.table == "run_events" {
		kind = "event -"
		if payload, err := Parse([]byte(one.text("payload_json"))); err == nil && payload.Kind == '{' {
			kind = "event " + kindOf(payload, []string{"message.type|type"})
		}
	}
	if b, err := hex.DecodeString(value); err == nil && len(b) > 0 {
		if doc, err := Parse(b); err == nil && doc.Kind == '{' {
			r.change(Doc{kind, one.nameOf(column), doc})
			return hex.EncodeToString(doc.Append(nil))
		}
	}
	doc, err := Parse([]byte(value))
	if err != nil || doc.Kind != '{' && doc.Kind != '[' {
		if _, ok := one.cells[column].(string); !ok {
			return value
		}
		doc = &Node{Kind: '"', Value: value}
		r.change(Doc{kind, one.nameOf(column), doc})
		return doc.Value
	}
	r.change(Doc{kind, one.nameOf(column), doc})
	return string(doc.Append(nil))
}
