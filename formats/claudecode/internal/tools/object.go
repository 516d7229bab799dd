package tools

import (
	"strconv"

	"rehome/formats/session"
)

// object is one being written.
type object struct {
	b     []byte
	began bool
	some  bool
}

func (o *object) start() { o.b, o.began = append(o.b, '{'), true }

func (o *object) name(name string) {
	if !o.began {
		o.start()
	}
	if o.some {
		o.b = append(o.b, ',')
	}
	o.some = true
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) text(name, text string) {
	o.name(name)
	o.b = session.AppendString(o.b, text)
}

func (o *object) raw(name string, raw []byte) {
	o.name(name)
	o.b = append(o.b, raw...)
}

func (o *object) num(name string, n int) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, int64(n), 10)
}

func (o *object) flag(name string, set bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, set)
}

func (o *object) done() []byte {
	if !o.began {
		o.start()
	}
	return append(o.b, '}')
}
