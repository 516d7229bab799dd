package leaves

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// WrittenIDE returns a walk over all that was written as a user dir of the Cursor IDE: bubbles,
// composers, states, the content of files, and the lists and folders that name them. The bubbles
// and each state are tellings of their own.
func WrittenIDE() Walk {
	return func(t testing.TB, at string, _ []string) iter.Seq[Record] {
		t.Helper()
		w := &ide{t: t, states: newGraph(""), roots: map[string]string{}, stated: map[string][]byte{}, composers: map[string]*Node{}, bubbles: map[string]*Node{}}
		w.states.again = true
		for _, db := range named(t, at, "state.vscdb") {
			for _, r := range database(t, db) {
				w.row(filepath.Base(filepath.Dir(db)), r)
			}
		}
		for _, name := range named(t, at, "workspace.json") {
			if doc, err := Parse(read(t, name)); err == nil {
				w.add("folder -", name, "lists", doc.Leaves(nil, ""))
			}
		}
		w.listed()
		w.headed()
		w.told()
		return slices.Values(w.out)
	}
}

// ide are the records of a user dir.
type ide struct {
	t         testing.TB
	out       []Record
	states    *graph
	roots     map[string]string // of states, by composer
	stated    map[string][]byte // the bytes of the root, which a composer has, too
	bubbles   map[string]*Node  // by the id of the composer and its own
	composers map[string]*Node
	heads     []*Node // what the list says of composers
	columns   []row   // and what the table does
}

func (w *ide) add(kind, at, telling string, leaves []Leaf) {
	w.out = append(w.out, Record{At: at, Kind: kind, Telling: telling, Wide: true, Leaves: leaves})
}

func (w *ide) row(folder string, r row) {
	key, value := r.text("key"), r.text("value")
	at := folder + " " + key
	if r.table == "composerHeaders" {
		w.columns = append(w.columns, r)
		return
	}
	doc, err := Parse([]byte(value))
	if err == nil && key == "composer.composerHeaders" {
		w.heads = doc.At("allComposers").Items
		return
	}
	if id, ok := strings.CutPrefix(key, "agentKv:checkpoint:"); ok {
		w.roots[id] = value
	} else if id, ok := strings.CutPrefix(key, "agentKv:blob:"); ok {
		w.states.add(id, at, []byte(value))
	} else if strings.HasPrefix(key, "composer.content.") {
		w.add("content -", at, "contents", []Leaf{{Path: "-", Value: value}})
	} else if err != nil || doc.Kind != '{' && doc.Kind != '[' {
		w.add("row -", at, "lists", r.leaves())
	} else if r.table == "ItemTable" {
		w.add("list "+key, at, "lists", doc.Leaves(nil, ""))
	} else if id, ok := strings.CutPrefix(key, "composerData:"); ok {
		state, _ := strings.CutPrefix(doc.text("conversationState"), "~")
		w.stated[id], _ = base64.StdEncoding.DecodeString(state)
		w.composers[id] = doc
		list := slices.DeleteFunc(doc.Leaves(nil, ""), func(l Leaf) bool { return l.Path == "conversationState" })
		w.add("composer -", at, "composers", list)
	} else {
		doc.each(imagesOf)
		w.bubbles[strings.TrimPrefix(key, "bubbleId:")] = doc
	}
}

// listed adds the bubbles in the order of the lists of composers, and then those that none lists.
func (w *ide) listed() {
	add := func(kind, id string) {
		doc := w.bubbles[id]
		delete(w.bubbles, id)
		w.add(kind+" "+kindOf(doc, []string{"type"}), id, "bubbles", doc.Leaves(nil, ""))
	}
	for _, id := range slices.Sorted(maps.Keys(w.composers)) {
		for _, one := range w.composers[id].At("fullConversationHeadersOnly").Items {
			if at := id + ":" + one.text("bubbleId"); w.bubbles[at] == nil {
				w.t.Errorf("composer %s lists a bubble that is missing: %s", id, at)
			} else {
				add("bubble", at)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.bubbles)) {
		add("unlisted", id)
	}
}

// headColumns are the columns of the table of heads, and the members that they repeat.
var headColumns = map[string]string{
	"composerId": "composerId", "workspaceId": "workspaceIdentifier.id", "createdAt": "createdAt", "lastUpdatedAt": "lastUpdatedAt", "isArchived": "isArchived",
	"recency": "lastUpdatedAt", "checkpointAt": "lastUpdatedAt", "subagentTypeName": "subagentInfo.subagentTypeName", "isSubagent": "subagentInfo",
}

// parsed returns the leaves of a document.
func parsed(text string) []Leaf {
	doc, err := Parse([]byte(text))
	if err != nil {
		return nil
	}
	return doc.Leaves(nil, "")
}

// headed adds what the list and the table of heads do not repeat of composers: all that they have
// in common must be the same.
func (w *ide) headed() {
	if len(w.heads) != len(w.composers) || len(w.columns) != len(w.composers) {
		w.t.Errorf("%d composers have %d heads in the list, and %d in the table", len(w.composers), len(w.heads), len(w.columns))
	}
	for _, head := range w.heads {
		at := head.text("composerId")
		own := w.composers[at]
		if own == nil {
			w.t.Errorf("no composer has the head %s", at)
			continue
		}
		list := head.Leaves(nil, "")
		i := slices.IndexFunc(w.columns, func(r row) bool { return r.text("composerId") == at })
		if i < 0 || !slices.Equal(list, parsed(w.columns[i].text("value"))) {
			w.t.Errorf("the table has another head of %s", at)
			continue
		}
		for column, path := range headColumns {
			said := ""
			if n := own.At(path); n != nil {
				said = map[string]string{"true": "1", "false": "0", "": "1"}[n.Value]
				said = cmp.Or(said, n.Value)
			}
			if now := w.columns[i].text(column); now != said && now != "0" {
				list = append(list, Leaf{Path: "column." + column, Value: now})
			}
		}
		common := own.Leaves(nil, "")
		w.add("head -", at, "lists", slices.DeleteFunc(list, func(l Leaf) bool { return slices.Contains(common, l) }))
	}
}

// told adds what each state leads to, and what none does. A composer has the root of its state, and
// names it.
func (w *ide) told() {
	left := map[string]bool{}
	for _, id := range w.states.order {
		left[w.states.blobs[id].at] = true
	}
	for _, id := range slices.Sorted(maps.Keys(w.stated)) {
		root := w.states.blobs[w.roots[id]]
		if !bytes.Equal(root.data, w.stated[id]) {
			w.t.Errorf("composer %s: its state is not the one that it names", id)
		}
		for _, r := range w.states.records(w.roots[id]) {
			if strings.HasPrefix(r.Kind, "left ") {
				continue
			}
			if delete(left, r.At); w.composers[id].At("subagentInfo") != nil {
				r.Telling = "subagent " + id + " " + r.Telling
			}
			w.out = append(w.out, r)
		}
	}
	for _, r := range w.states.records() {
		if left[r.At] {
			w.out = append(w.out, r)
		}
	}
}
