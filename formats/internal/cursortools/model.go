package cursortools

import (
	"slices"

	"rehome/formats/internal/object"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// modelItem is an object of a list while it is written as models write it.
type modelItem struct {
	object.Writer
	used, names []string
}

// modelList returns a list whose objects begin with what fill writes, and have all their
// other members after it. Anything else stays as it is.
func modelList(list []byte, fill func(n int, d doc, o *modelItem)) []byte {
	if len(list) == 0 || list[0] != '[' {
		return list
	}
	out, n := []byte{'['}, 0
	for element := range rawjson.Elements(list) {
		if n++; n > 1 {
			out = append(out, ',')
		}
		if element[0] != '{' {
			out = append(out, element...)
			continue
		}
		d, o := parse(element), modelItem{Writer: object.New(nil)}
		fill(n, d, &o)
		if !o.rest(d) {
			out = append(out, element...)
			continue
		}
		out = append(out, o.Done()...)
	}
	return append(out, ']')
}

// put writes a member, in place of those of the other names.
func (o *modelItem) put(name string, value []byte, used ...string) {
	o.Raw(name, value)
	o.names, o.used = append(o.names, name), append(o.used, used...)
}

// id writes the id of an object, or else one that says its place.
func (o *modelItem) id(d doc, place string) {
	if id := bare(d.get("id")); id != "" {
		place = id
	}
	o.put("id", session.AppendString(nil, place), "id")
}

// text writes a text that is under one of the names.
func (o *modelItem) text(d doc, name string, names ...string) {
	for _, from := range names {
		if v := d.get(from); rawjson.IsText(v) {
			o.put(name, v, from)
			return
		}
	}
}

// flag writes what is true or false under one of the names.
func (o *modelItem) flag(d doc, name string, names ...string) {
	for _, from := range names {
		if v := string(d.get(from)); v == "true" || v == "false" {
			o.put(name, []byte(v), from)
			return
		}
	}
}

// rest writes all other members; false if one has the name of one that was written.
func (o *modelItem) rest(d doc) bool {
	for _, m := range d {
		switch name := string(m.name); {
		case slices.Contains(o.used, name):
		case slices.Contains(o.names, name):
			return false
		default:
			writeName(&o.Writer, name)
			o.B = append(o.B, m.value...)
		}
	}
	return true
}
