package leaves

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/formats/session"
)

// records returns the leaves of a session by reflection: not by the list of members that its
// canonical form is made from. Records have the
// addresses that losses of writers name. The names of paths are those of the Go fields, and that of a part is
// its type. The kinds of a record are its type, the role of a message, and the
// agent of the session; a message is blank if it says nothing. With types, the type of each part is
// a leaf, too.
func records(t testing.TB, s *session.Session, types bool) []Record {
	t.Helper()
	w := teller{at: s.ID, agent: s.Agent, types: types}
	w.record("session -", 0, s)
	branch, turn, begun := "", "", false
	if s.Messages != nil {
		for m, err := range s.Messages {
			if err != nil {
				t.Error(err)
				break
			}
			who := map[session.Role]place{session.User: user, session.Assistant: model, session.Tool: tool, session.System: client}[m.Role]
			if m.Simulated {
				who = client
			}
			w.at = m.ID
			if len(m.Origin) > 0 {
				w.at = m.Origin[0]
			}
			kind := "message "
			if !slices.ContainsFunc(m.Parts, says) {
				kind = "blank "
			}
			w.record(kind+string(m.Role), who, m)
			r := &w.out[len(w.out)-1]
			if r.aside = m.Branch != "" || m.Archived; m.Turn != nil || m.Branch != branch {
				branch, turn = m.Branch, w.at
			}
			begun = begun || m.Turn != nil
			r.kid, r.loose = s.Parent != nil, s.Parent != nil && !begun || m.Role == session.User && m.Turn == nil || m.Role == session.System && !slices.ContainsFunc(m.Parts, compacts)
			r.command = m.Turn != nil && m.Turn.Kind == "shell"
			if m.Branch != "" {
				r.turn = turn
			}
		}
	}
	if s.Files != nil {
		for f, err := range s.Files {
			if err != nil {
				t.Error(err)
				break
			}
			w.at = f.Path
			w.record("file -", 0, f)
		}
	}
	return w.out
}

// says reports whether a part is more than white space.
func says(p session.Part) bool {
	t, text := p.(*session.Text)
	return !text || strings.TrimSpace(t.Text) != ""
}

func compacts(p session.Part) bool { _, ok := p.(*session.Boundary); return ok }

// teller tells the leaves of a session.
type teller struct {
	at    string
	agent string
	types bool
	out   []Record
	who   place // of the message at hand
	parts int
	part  int    // that of the call or the result at hand
	extra string // the name of the one at hand
}

func (w *teller) record(kind string, who place, r any) {
	w.who = who
	w.out = append(w.out, Record{At: w.at, Kind: kind + " " + w.agent, Wide: true})
	w.value(reflect.ValueOf(r), "", 0)
}

func (w *teller) add(l Leaf) {
	if l.Value != "" {
		l.part, l.name = w.part, w.extra
		r := &w.out[len(w.out)-1]
		r.Leaves = append(r.Leaves, l)
	}
}

// value adds what is in a value, which who says.
func (w *teller) value(v reflect.Value, path string, who place) {
	switch x := v.Interface().(type) {
	case session.Stamp:
		if x.Known() && x.Inferred() {
			w.add(Leaf{Path: path + "~", Value: strconv.FormatInt(x.Millis(), 10)})
		} else if x.Known() {
			w.add(Leaf{Path: path, Value: strconv.FormatInt(x.Millis(), 10)})
		}
		return
	case session.Raw:
		w.raw(x, path, who)
		return
	case []session.Extra:
		for _, e := range x {
			w.add(Leaf{Path: join(path, "name"), Value: e.Name})
			w.extra = e.Name
			w.raw(e.Raw, join(path, "raw"), 0)
			w.extra = ""
		}
		return
	case []byte:
		w.add(Leaf{Path: path, Value: string(x), Bytes: true, who: who})
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.add(Leaf{Path: path, Value: v.String(), who: who})
	case reflect.Bool:
		if v.Bool() {
			w.add(Leaf{Path: path, Value: "true"})
		}
	case reflect.Int, reflect.Int64:
		if v.Int() > 0 {
			w.add(Leaf{Path: path, Value: strconv.FormatInt(v.Int(), 10)})
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			w.value(v.Elem(), path, who)
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.value(v.Index(i), path, who)
		}
	case reflect.Struct:
		w.fields(v, path, who)
	}
}

func (w *teller) fields(v reflect.Value, path string, who place) {
	p, part := v.Addr().Interface().(session.Part)
	if part {
		path = join(path, v.Type().Name())
		switch p.(type) {
		case *session.ToolCall, *session.ToolResult:
			w.parts++
			w.part = w.parts
			defer func() { w.part = 0 }()
		}
		if w.types {
			w.add(Leaf{Path: join(path, "Type"), Value: v.Type().Name()})
		}
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Type.Kind() == reflect.Func || f.Type == reflect.TypeFor[*session.Graph]() {
			continue
		}
		at := path
		if !f.Anonymous {
			at = join(path, f.Name)
		}
		said := place(0)
		if part {
			said = w.speaker(p, f.Name, who)
		}
		if n := v.Field(i); (v.Type() == reflect.TypeFor[session.Usage]() || v.Type() == reflect.TypeFor[session.Context]()) && n.Int() == 0 {
			w.add(Leaf{Path: at, Value: "0"}) // a count, which is known
			continue
		}
		if p, ok := p.(*session.Injected); ok && f.Name == "Data" && strings.TrimSpace(p.Text) == "" && !w.types {
			w.add(Leaf{Path: at, Value: string(p.Data), who: said}) // it is all that there is to say
			continue
		}
		w.value(v.Field(i), at, said)
	}
}

// speaker returns who says a member of a part, 0 if nobody does. who is the tool whose result has
// the part.
func (w *teller) speaker(p session.Part, name string, who place) place {
	if who == 0 {
		who = w.who
	}
	said := map[string]place{}
	switch p := p.(type) {
	case *session.Text:
		said["Text"] = who
	case *session.Injected:
		said["Text"], said["Data"] = client, client
	case *session.Thinking:
		said["Text"] = thought
	case *session.ToolCall:
		if said["Input"] = model; len(p.Input) == 0 {
			said["Args"] = model
		}
	case *session.ToolResult:
		if said["Content"] = tool; len(p.Content) == 0 {
			said["Value"] = tool
		}
	case *session.Media:
		said["Data"], said["URI"] = who, who
	case *session.Summary:
		said["Text"] = summed
	}
	return said[name]
}

func (w *teller) raw(b []byte, path string, who place) {
	n, err := Parse(b)
	if err != nil {
		w.add(Leaf{Path: path, Value: string(b), who: who})
		return
	}
	r := &w.out[len(w.out)-1]
	n.each(func(n *Node) { r.names = append(r.names, n.Names...) })
	list := n.Leaves(nil, path)
	for i := range list {
		list[i].who = who
		w.add(list[i])
	}
}
