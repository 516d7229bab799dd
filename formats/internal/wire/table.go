package wire

import (
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed messages.txt
var files embed.FS

// Messages returns the table of this build. It is parsed once.
var Messages = sync.OnceValue(func() *Table {
	text, err := files.ReadFile("messages.txt")
	var t *Table
	if err == nil {
		t, err = Parse(string(text))
	}
	if err != nil {
		panic("wire: messages.txt: " + err.Error()) // a test parses it
	}
	return t
})

// Table is a set of messages by name.
type Table struct {
	messages map[string]*Message
	enums    map[string]*enum
}

// Message describes one message.
type Message struct {
	Name   string
	Fields []*Field // in the table's order
	byNum  []*Field
	oneofs int
}

// Field describes one field of a message.
type Field struct {
	Num      int
	Name     string // in JSON
	Kind     Kind
	Message  *Message // of kind Nested
	Target   string   // of kind Ref: the message in the blob, or "prompt"; "" if it is any bytes
	Repeated bool
	Optional bool // present even if its value is zero
	Key      Kind // of a map's keys; 0 if it is not a map
	OneOf    string

	enum  *enum
	index int // in Message.Fields
	one   int // oneof of this message, from 1
}

// Kind is the type of a field's value.
type Kind uint8

// The kinds.
const (
	Int32 Kind = iota + 1
	Int64
	Uint32
	Uint64
	Sint32
	Bool
	Enum
	Float
	Double
	String
	Blob // bytes
	Ref  // bytes that are the id of a blob
	Nested
	Value
	Struct
)

var kinds = map[string]Kind{"int32": Int32, "int64": Int64, "uint32": Uint32, "uint64": Uint64, "sint32": Sint32,
	"bool": Bool, "float": Float, "double": Double, "string": String, "bytes": Blob, "ref": Ref, "Value": Value, "Struct": Struct}

// wire returns the wire type of a kind, if it is not packed.
func (k Kind) wire() Type {
	switch k {
	case Float:
		return Fixed32
	case Double:
		return Fixed64
	case String, Blob, Ref, Nested, Value, Struct:
		return Bytes
	}
	return Varint
}

type enum struct {
	prefix string
	names  map[int32]string
}

// Word returns the name of an enum's value in lower case and without the prefix that all
// values share: "in_progress". It returns "" for 0, which means unspecified, and for an
// unknown value.
func (f *Field) Word(n uint64) string {
	if n == 0 || n > math.MaxInt32 {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(f.enum.names[int32(n)], f.enum.prefix))
}

// Number is the inverse of Word. It returns 0 for an unknown word.
func (f *Field) Number(word string) uint64 {
	for n := range f.enum.names {
		if n > 0 && f.Word(uint64(n)) == word {
			return uint64(n)
		}
	}
	return 0
}

// Message returns the message of that name; nil if it is unknown.
func (t *Table) Message(name string) *Message { return t.messages[name] }

// Field returns the field of that number; nil if it is unknown.
func (m *Message) Field(num int) *Field {
	if num < len(m.byNum) {
		return m.byNum[num]
	}
	return nil
}

// Named returns the field of that JSON name; nil if it is unknown.
func (m *Message) Named(name string) *Field {
	for _, f := range m.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Parse parses a table.
func Parse(text string) (*Table, error) {
	t := &Table{messages: map[string]*Message{}, enums: map[string]*enum{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		head, body, ok := strings.Cut(rest, ":")
		var err error
		switch {
		case kind == "" || kind == "#":
		case kind == "message" && ok:
			err = t.message(head, body)
		case kind == "enum" && ok:
			err = t.enum(head, body)
		default:
			err = fmt.Errorf("expected a message or an enum")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	for name, m := range t.messages {
		if m.Fields == nil && m.byNum == nil {
			return nil, fmt.Errorf("undefined message %s", name)
		}
	}
	for name, e := range t.enums {
		if e.names == nil {
			return nil, fmt.Errorf("undefined enum %s", name)
		}
	}
	return t, nil
}

// named returns the message of that name, which may be defined later.
func (t *Table) named(name string) *Message {
	m := t.messages[name]
	if m == nil {
		m = &Message{Name: name}
		t.messages[name] = m
	}
	return m
}

func items(body string) []string {
	if body = strings.TrimSpace(body); body == "" {
		return nil
	}
	return strings.Split(body, "; ")
}

func (t *Table) message(name, body string) error {
	m := t.named(name)
	if m.byNum != nil {
		return fmt.Errorf("duplicate message %s", name)
	}
	m.byNum = make([]*Field, 1)
	ones := map[string]int{}
	for _, item := range items(body) {
		f, err := t.field(item)
		if err != nil {
			return fmt.Errorf("%s: %q: %w", name, item, err)
		}
		if f.OneOf != "" && ones[f.OneOf] == 0 {
			m.oneofs++
			ones[f.OneOf] = m.oneofs
		}
		f.one = ones[f.OneOf]
		f.index = len(m.Fields)
		m.Fields = append(m.Fields, f)
		for len(m.byNum) <= f.Num {
			m.byNum = append(m.byNum, nil)
		}
		if m.byNum[f.Num] != nil {
			return fmt.Errorf("%s: duplicate field number %d", name, f.Num)
		}
		m.byNum[f.Num] = f
	}
	return nil
}

func (t *Table) field(item string) (*Field, error) {
	words := strings.Fields(item)
	if len(words) < 3 || len(words) > 4 {
		return nil, fmt.Errorf("expected a number, a name, a type and optionally a oneof")
	}
	num, err := strconv.Atoi(words[0])
	if err != nil || num < 1 || num > 1000 {
		return nil, fmt.Errorf("invalid field number")
	}
	f := &Field{Num: num, Name: words[1]}
	if len(words) == 4 {
		one, ok := strings.CutPrefix(words[3], "|")
		if !ok || one == "" {
			return nil, fmt.Errorf("a oneof must begin with |")
		}
		f.OneOf = one
	}
	typ := words[2]
	typ, f.Repeated = strings.CutPrefix(typ, "*")
	typ, f.Optional = strings.CutSuffix(typ, "?")
	if inner, ok := strings.CutPrefix(typ, "map<"); ok {
		key, value, _ := strings.Cut(strings.TrimSuffix(inner, ">"), ",")
		if f.Key = kinds[key]; f.Key == 0 {
			return nil, fmt.Errorf("invalid key type")
		}
		typ = value
	}
	if target, ok := strings.CutPrefix(typ, "ref<"); ok {
		typ, f.Target = "ref", strings.TrimSuffix(target, ">")
		if f.Target != "prompt" {
			t.named(f.Target)
		}
	}
	f.Kind = kinds[typ]
	switch {
	case f.Kind != 0:
	case strings.HasPrefix(typ, "@"):
		f.Kind = Enum
		if f.enum = t.enums[typ[1:]]; f.enum == nil {
			f.enum = &enum{}
			t.enums[typ[1:]] = f.enum
		}
	case typ != "" && typ[0] >= 'A' && typ[0] <= 'Z':
		f.Kind, f.Message = Nested, t.named(typ)
	default:
		return nil, fmt.Errorf("unknown type")
	}
	return f, nil
}

func (t *Table) enum(head, body string) error {
	name, prefix, _ := strings.Cut(head, " ")
	e := t.enums[name]
	if e == nil {
		e = &enum{}
		t.enums[name] = e
	}
	if e.names != nil {
		return fmt.Errorf("duplicate enum %s", name)
	}
	e.prefix, e.names = prefix, map[int32]string{}
	for _, item := range items(body) {
		num, rest, ok := strings.Cut(item, " ")
		n, err := strconv.ParseInt(num, 10, 32)
		if !ok || err != nil {
			return fmt.Errorf("enum %s: invalid value %q", name, item)
		}
		e.names[int32(n)] = prefix + rest
	}
	return nil
}

// Words returns the words of the table that are values in JSON, or names of tools.
func (t *Table) Words() (out []string) {
	for _, e := range t.enums {
		for _, name := range e.names {
			out = append(out, name)
		}
	}
	if calls := t.messages["ToolCall"]; calls != nil {
		for _, f := range calls.Fields {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out
}
