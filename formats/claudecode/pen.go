package claudecode

import (
	"strconv"

	"rehome/formats/session"
)

// pen writes an object, member by member.
type pen struct {
	b    []byte
	some bool
}

func object(dst []byte) pen { return pen{b: append(dst, '{')} }

// name begins a member. Names are ours and need no escape.
func (p *pen) name(name string) {
	if p.some {
		p.b = append(p.b, ',')
	}
	p.some = true
	p.b = append(append(append(p.b, '"'), name...), '"', ':')
}

func (p *pen) text(name, text string) {
	p.name(name)
	p.b = session.AppendString(p.b, text)
}

func (p *pen) filled(name, text string) {
	if text != "" {
		p.text(name, text)
	}
}

func (p *pen) raw(name string, raw []byte) {
	p.name(name)
	p.b = append(p.b, raw...)
}

func (p *pen) flag(name string, set bool) {
	p.name(name)
	p.b = strconv.AppendBool(p.b, set)
}

func (p *pen) num(name string, n int64) {
	p.name(name)
	p.b = strconv.AppendInt(p.b, n, 10)
}

func (p *pen) done() []byte { return append(p.b, '}') }
