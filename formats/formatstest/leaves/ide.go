package leaves

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ideRows are the rows of the Cursor IDE that hold sessions, by the beginnings of their keys, and
// what they are called here. The id of a session follows in the key.
var ideRows = []struct{ key, kind string }{
	{"bubbleId:", "bubble"}, {"composerData:", "composer"}, {"messageRequestContext:", "context"},
}

// IDE returns a walk over the rows of a user dir of the Cursor IDE that hold sessions, and over
// the states of agents. Where there are bubbles, too, the reader takes from the state what they
// lack: prompts there are not compared.
func IDE() Walk {
	return func(t testing.TB, at string, _ []string) iter.Seq[Record] {
		t.Helper()
		var out []Record
		for _, db := range named(t, at, "state.vscdb") {
			name, err := filepath.Rel(at, db)
			if err != nil {
				t.Fatal(err)
			}
			if name == "." { // the path is the file
				name = ""
			}
			out = append(out, ideRecords(shown(at, filepath.ToSlash(name)), database(t, db))...)
		}
		return slices.Values(out)
	}
}

func ideRecords(file string, rows []row) (out []Record) {
	roots, blobs, told := map[string]string{}, newGraph(""), map[string]bool{}
	stored := map[string]bool{}
	deleted := map[string]string{} // the rows that are left of sessions, which a loss names
	for _, r := range rows {
		stored[r.text("key")] = r.cells["value"] != nil
		if id, ok := strings.CutPrefix(r.text("key"), "composerData:"); ok && r.cells["value"] == nil {
			deleted[id] = address(file, r, r.text("key"))
		}
	}
	for _, r := range rows {
		key, value := r.text("key"), r.text("value")
		if id, ok := strings.CutPrefix(key, "agentKv:blob:"); ok {
			b, err := hex.DecodeString(value)
			if _, isText := r.cells["value"].(string); !isText || err != nil {
				b = []byte(value)
			}
			blobs.add(id, address(path.Base(file), r, key), b)
			continue
		}
		if id, ok := strings.CutPrefix(key, "agentKv:checkpoint:"); ok {
			roots[id] = strings.Trim(value, `"`)
			continue
		}
		doc, err := Parse([]byte(value))
		if err != nil || doc.Kind != '{' {
			continue
		}
		doc.each(imagesOf)
		if key == "composer.composerData" { // those of 2024 hold what is said
			for _, head := range doc.inline() {
				one := Record{At: address(file, r, key), Kind: "composer -", Group: head.text("composerId"), Wide: true}
				out = append(out, append(ideInner(head, &one, nil), one)...)
			}
		}
		for _, of := range ideRows {
			if rest, ok := strings.CutPrefix(key, of.key); ok {
				one := Record{At: address(file, r, key), Kind: of.kind + " " + kindOf(doc, []string{"type"}), Leaves: doc.Leaves(nil, ""), Wide: of.kind == "composer"}
				one.Group, _, _ = strings.Cut(rest, ":")
				one.At = cmp.Or(deleted[one.Group], one.At)
				told[one.Group] = told[one.Group] || of.kind == "bubble"
				if of.kind == "composer" {
					inner := ideInner(doc, &one, func(id string) bool { return stored["bubbleId:"+one.Group+":"+id] })
					out, told[one.Group] = append(out, inner...), told[one.Group] || len(inner) > 0
				}
				if state, ok := strings.CutPrefix(doc.text("conversationState"), "~"); ok { // a record of its own
					b, _ := base64.StdEncoding.DecodeString(state)
					one.Leaves = slices.DeleteFunc(one.Leaves, func(l Leaf) bool { return l.Path == "conversationState" })
					if of.kind == "composer" {
						roots[one.Group] = key
						blobs.add(key, one.At, b)
					}
				}
				out = append(out, one)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(roots)) {
		blobs.group = id
		for _, r := range blobs.records(roots[id]) {
			way, of := strings.CutPrefix(r.Kind, "state")
			if of && told[id] { // bubbles have most of it, and all prompts
				r.Kind, r.Wide = "beside"+way, true
				of = way != ".1 user" && way != ".8.1.1 -"
			}
			if of { // all sessions share the other blobs
				out = append(out, r)
			}
		}
	}
	return out
}

// inline returns the heads in a list that hold a conversation, whose calls stand apart from it.
func (n *Node) inline() (out []*Node) {
	list := n.Member("allComposers")
	if list == nil {
		return nil
	}
	for _, head := range list.Items {
		if talk := head.Member("conversation"); talk != nil && len(talk.Items) > 0 {
			out = append(out, head)
		}
	}
	return out
}

// ideInner takes the bubbles with their calls out of the record of a composer: those of a list, and those of a map,
// of which the rows that are stored are newer.
func ideInner(doc *Node, of *Record, stored func(id string) bool) (out []Record) {
	add := func(b *Node, copied bool) {
		if b.Kind != '{' {
			return
		}
		r := Record{At: of.At, Kind: "bubble " + kindOf(b, []string{"type"}), Group: of.Group, Leaves: b.Leaves(nil, "")}
		if copied {
			r.Kind, r.Wide = "copy "+kindOf(b, []string{"type"}), true
		}
		out = append(out, r)
	}
	calls := map[string]*Node{} // of the first versions, which have them apart
	doc.each(func(n *Node) {
		if apart := n.Member("bubbleDataMap"); apart != nil {
			if list, err := Parse([]byte(apart.Value)); err == nil {
				for i, id := range list.Names {
					calls[id] = list.Items[i]
				}
			}
			n.detach("bubbleDataMap")
		}
	})
	of.Leaves = doc.Leaves(nil, "")
	if list := doc.Member("conversation"); list != nil {
		for _, b := range list.Items {
			if call := calls[b.text("bubbleId")]; call != nil {
				b.Names, b.Items = append(b.Names, "toolFormerData"), append(b.Items, call)
			}
			add(b, false)
		}
	}
	if byID := doc.Member("conversationMap"); byID != nil {
		for i, b := range byID.Items {
			add(b, stored(byID.Names[i]))
		}
	}
	of.Leaves = slices.DeleteFunc(of.Leaves, func(l Leaf) bool {
		return strings.HasPrefix(l.Path, "conversationMap.") || strings.HasPrefix(l.Path, "conversation[].")
	})
	return out
}

// RewriteIDE is the Rewrite of bubbles and of the records of sessions, but for what these list:
// what a list says of a message or a file that is gone, is gone with it.
func RewriteIDE(t testing.TB, from, dir string, _ []string, change func(Doc)) string {
	t.Helper()
	to := filepath.Join(dir, filepath.Base(from))
	copyTo(t, from, to)
	for _, db := range named(t, to, "state.vscdb") {
		update(t, db, func(r row) map[string]string {
			doc, err := Parse([]byte(r.text("value")))
			if err != nil || doc.Kind != '{' {
				return nil
			}
			if heads := doc.inline(); r.text("key") == "composer.composerData" && len(heads) > 0 {
				for _, head := range heads {
					changeComposer(head, "composer -", change)
				}
				return map[string]string{"value": string(doc.Append(nil))}
			}
			for _, of := range ideRows {
				if strings.HasPrefix(r.text("key"), of.key) {
					changeComposer(doc, of.kind+" "+kindOf(doc, []string{"type"}), change)
					return map[string]string{"value": string(doc.Append(nil))}
				}
			}
			return nil
		})
	}
	return to
}

// changeComposer changes a bubble, or a composer and the bubbles in it.
func changeComposer(doc *Node, kind string, change func(Doc)) {
	lists := doc.detach("conversationMap", "conversation")
	change(Doc{kind, "", doc})
	for i, bubbles := range lists.Items {
		for _, b := range bubbles.Items {
			if strings.HasPrefix(lists.Names[i], "conversation") {
				change(Doc{"bubble " + kindOf(b, []string{"type"}), "", b})
			}
		}
	}
	doc.Names, doc.Items = append(doc.Names, lists.Names...), append(doc.Items, lists.Items...)
}

// imagesOf makes base64 of the images of a bubble.
func imagesOf(n *Node) {
	if images := n.Member("images"); images != nil {
		for _, one := range images.Items {
			if data := one.Member("data"); data != nil {
				bytesOf(data)
			}
		}
	}
}

// detach takes members out of an object.
func (n *Node) detach(names ...string) *Node {
	in, out := &Node{Kind: '{'}, &Node{Kind: '{'}
	for i, name := range n.Names {
		to := in
		if slices.Contains(names, name) {
			to = out
		}
		to.Names, to.Items = append(to.Names, name), append(to.Items, n.Items[i])
	}
	n.Names, n.Items = in.Names, in.Items
	return out
}

// address is how Message.Origin names a row.
func address(file string, r row, key string) string {
	const most = 60
	if len(key) > most {
		key = key[:most] + "…"
	}
	return fmt.Sprintf("%s/%s#%d (%s)", file, r.table, r.id, key)
}

// bytesOf makes base64 of bytes that JavaScript wrote as a list of numbers, as an object with
// numbers as names, or as a Buffer.
func bytesOf(n *Node) {
	list := n
	if d := n.Member("data"); d != nil && n.Kind == '{' && n.text("type") == "Buffer" {
		list = d
	}
	if len(list.Items) == 0 || list.Kind != '[' && list.Kind != '{' {
		return
	}
	b := make([]byte, len(list.Items))
	for i, item := range list.Items {
		v, err := strconv.ParseUint(item.Value, 10, 8)
		if err != nil || item.Kind != '0' || list.Kind == '{' && list.Names[i] != strconv.Itoa(i) {
			return
		}
		b[i] = byte(v)
	}
	bytes := Node{Kind: '"', Value: base64.StdEncoding.EncodeToString(b)}
	if list != n && len(n.Names) > 2 { // it has members that no Buffer has
		*list = bytes
		n.detach("type")
		return
	}
	*n = bytes
}
