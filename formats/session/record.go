package session

// Record is what the canonical form writes as one JSON object: a pointer to a Session,
// Message, File or a part of them.
type Record interface{ members(v Visitor) }

// Visit calls v for each member of a record, in the order in which they are written. This
// is the only description of the canonical form: its writer and its reader are Visitors.
func Visit(r Record, v Visitor) { r.members(v) }

// Visitor is called with the name of a member and its value: a *string, *bool, *int,
// *int64, *Stamp, *Raw, *[]byte for base64, *[]string, *[]Part or *[]Extra, or one of the
// types below. An optional member is absent if its value is empty.
type Visitor interface {
	Required(name string, value any)
	Optional(name string, value any)
}

// The values of members that have a form of their own.
type (
	Constant string // JSON that is always the same
	Count    int64  // a *Count is absent if negative
	UTF8     []byte // a *UTF8 is a text, absent if the bytes are not UTF-8
	Binary   []byte // a *Binary is base64, absent if the bytes are UTF-8
)

// Object is the value of a member that is a record.
type Object interface {
	Get() Record // nil if absent
	New() Record // replaces it by an empty one
}

// Objects is the value of a member that is an array of records.
type Objects interface {
	Len() int
	At(i int) Record
	Add() Record // appends an empty one
	Clear()
}

// NewPart returns an empty part of a type, and nil if the type is unknown.
func NewPart(kind string) Part {
	switch kind {
	case "text":
		return &Text{}
	case "context":
		return &Injected{}
	case "thinking":
		return &Thinking{}
	case "tool_call":
		return &ToolCall{}
	case "tool_result":
		return &ToolResult{}
	case "media":
		return &Media{}
	case "summary":
		return &Summary{}
	case "boundary":
		return &Boundary{}
	case "opaque":
		return &Opaque{}
	}
	return nil
}

// recordPointer is a *T that is a Record.
type recordPointer[T any] interface {
	*T
	Record
}

type objectOf[T any, P recordPointer[T]] struct{ at **T }

func object[T any, P recordPointer[T]](at **T) objectOf[T, P] { return objectOf[T, P]{at} }

func (o objectOf[T, P]) Get() Record {
	if *o.at == nil {
		return nil
	}
	return P(*o.at)
}

func (o objectOf[T, P]) New() Record {
	*o.at = new(T)
	return P(*o.at)
}

type objectsOf[T any, P recordPointer[T]] struct{ at *[]T }

func objects[T any, P recordPointer[T]](at *[]T) objectsOf[T, P] { return objectsOf[T, P]{at} }

func (o objectsOf[T, P]) Len() int        { return len(*o.at) }
func (o objectsOf[T, P]) At(i int) Record { return P(&(*o.at)[i]) }
func (o objectsOf[T, P]) Clear()          { *o.at = nil }

func (o objectsOf[T, P]) Add() Record {
	*o.at = append(*o.at, *new(T))
	return o.At(o.Len() - 1)
}
