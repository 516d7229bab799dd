package canonical

import (
	"encoding/base64"
	"strconv"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// parser reads lines that are known to be JSON. Each member is either taken or
// becomes an Extra, and both are counted. A setter reports whether it took the
// value: false if that is not spelled as we would, or the place is taken.
type parser struct{ members, taken, extras int64 }

// extra keeps a member that was not taken.
func extra(list *[]session.Extra, name string, v []byte) {
	*list = append(*list, session.Extra{Name: name, Raw: whole(v)})
}

// saw counts a member, and keeps it if it was not taken.
func (p *parser) saw(took bool, list *[]session.Extra, path string, name, v []byte) {
	p.members++
	if took {
		p.taken++
		return
	}
	p.extras++
	extra(list, path+string(name), v)
}

// whole is a value that cannot be appended to by mistake.
func whole(v []byte) session.Raw { return session.Raw(v[:len(v):len(v)]) }

func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }

func text(dst *string, v []byte) bool {
	if *dst != "" || len(v) == 0 || v[0] != '"' {
		return false
	}
	*dst = rawjson.Text(v)
	return true
}

func texts(dst *[]string, v []byte) bool {
	if *dst != nil || !all(v, func(e []byte) bool { return e[0] == '"' }) {
		return false
	}
	for e := range rawjson.Elements(v) {
		*dst = append(*dst, rawjson.Text(e))
	}
	return true
}

// all reports whether v is an array of nothing but such elements.
func all(v []byte, such func(e []byte) bool) bool {
	if len(v) == 0 || v[0] != '[' {
		return false
	}
	for e := range rawjson.Elements(v) {
		if !such(e) {
			return false
		}
	}
	return true
}

// number reads an integer in its one spelling; unset is what stands there
// before.
func number(dst *int64, v []byte, unset int64) bool {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || *dst != unset || strconv.FormatInt(n, 10) != string(v) {
		return false
	}
	*dst = n
	return true
}

func count(dst *int, v []byte) bool {
	n := int64(*dst)
	if !number(&n, v, 0) || int64(int(n)) != n {
		return false
	}
	*dst = int(n)
	return true
}

// flag reads what is never spelled when it is false.
func flag(dst *bool, v []byte) bool {
	if *dst || string(v) != "true" {
		return false
	}
	*dst = true
	return true
}

func stamp(dst *session.Stamp, v []byte) bool {
	if dst.Known() || len(v) < 2 || v[0] != '"' {
		return false
	}
	s, ok := session.ParseStamp(string(v[1 : len(v)-1]))
	if ok {
		*dst = s
	}
	return ok
}

func raw(dst *session.Raw, v []byte) bool {
	if *dst != nil || len(v) == 0 {
		return false
	}
	*dst = whole(v)
	return true
}

// blob reads standard base64 with its padding, as it is written.
func blob(dst *[]byte, v []byte) bool {
	if *dst != nil || len(v) < 2 || v[0] != '"' {
		return false
	}
	v = v[1 : len(v)-1]
	out, err := base64.StdEncoding.Strict().AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(v))), v)
	if err != nil || base64.StdEncoding.EncodedLen(len(out)) != len(v) {
		return false // line ends inside, which the decoder passes over
	}
	*dst = out
	return true
}

// list reads the Extras that an earlier line carries.
func (p *parser) list(dst *[]session.Extra, v []byte) bool {
	if !all(v, func(e []byte) bool {
		return isObject(e) && len(rawjson.Last(e, "name")) > 0 && rawjson.Last(e, "name")[0] == '"'
	}) {
		return false
	}
	i := 0
	for e := range rawjson.Elements(v) {
		var x session.Extra
		var beside []session.Extra
		named := false
		for name, v := range rawjson.Members(e) {
			took := false
			switch string(name) {
			case "name":
				took = !named && text(&x.Name, v)
				named = named || took
			case "raw":
				took = raw(&x.Raw, v)
			}
			p.saw(took, &beside, "extras/"+strconv.Itoa(i)+"/", name, v)
		}
		*dst = append(append(*dst, x), beside...)
		i++
	}
	return true
}
