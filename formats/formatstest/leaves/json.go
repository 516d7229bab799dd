package leaves

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Node is a JSON value with its members in their order, repeated ones too.
type Node struct {
	Kind  byte     // '{', '[', '"', '0' for a number, 't' for true and false, 'n' for null
	Names []string // of the members of an object
	Items []*Node  // the values of an object or an array
	Value string   // a string, or what another scalar is written as
}

// Parse reads one JSON value and nothing after it.
func Parse(b []byte) (*Node, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var stack []*Node
	named := false // a member's name was read, its value follows
	for {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		if name, ok := token.(string); ok && len(stack) > 0 && stack[len(stack)-1].Kind == '{' && !named {
			in := stack[len(stack)-1]
			in.Names, named = append(in.Names, name), true
			continue
		}
		n := scalar(token)
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			n, stack = stack[len(stack)-1], stack[:len(stack)-1]
		} else {
			named = false
			if len(stack) > 0 {
				in := stack[len(stack)-1]
				in.Items = append(in.Items, n)
			}
			if ok {
				stack = append(stack, n)
			}
		}
		if len(stack) == 0 {
			if _, err := d.Token(); !errors.Is(err, io.EOF) {
				return nil, errors.New("text after the value")
			}
			return n, nil
		}
	}
}

func scalar(token json.Token) *Node {
	switch v := token.(type) {
	case json.Delim:
		return &Node{Kind: byte(v)}
	case string:
		return &Node{Kind: '"', Value: v}
	case json.Number:
		return &Node{Kind: '0', Value: v.String()}
	case bool:
		if v {
			return &Node{Kind: 't', Value: "true"}
		}
		return &Node{Kind: 't', Value: "false"}
	}
	return &Node{Kind: 'n', Value: "null"}
}

// Append appends the value as JSON.
func (n *Node) Append(dst []byte) []byte {
	switch n.Kind {
	case '{', '[':
		dst = append(dst, n.Kind)
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			if n.Kind == '{' {
				dst = append(quote(dst, n.Names[i]), ':')
			}
			dst = item.Append(dst)
		}
		return append(dst, n.Kind+2) // the bracket that closes
	case '"':
		return quote(dst, n.Value)
	}
	return append(dst, n.Value...)
}

func quote(dst []byte, s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always has a JSON form
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// Member returns the last member of a name, nil if there is none.
func (n *Node) Member(name string) *Node {
	for i := len(n.Names) - 1; i >= 0; i-- {
		if n.Names[i] == name {
			return n.Items[i]
		}
	}
	return nil
}

// path returns the path of an element or a member.
func (n *Node) path(of string, i int) string {
	if n.Kind == '[' {
		return of + "[]"
	}
	return join(of, n.Names[i])
}

// At returns the value at a path of member names joined by ".", nil if there is none.
func (n *Node) At(path string) *Node {
	for name := range strings.SplitSeq(path, ".") {
		if n = n.Member(name); n == nil {
			return nil
		}
	}
	return n
}

// Leaves appends the leaves below a path: not null, "" , {} and [].
func (n *Node) Leaves(list []Leaf, path string) []Leaf { return n.leaves(list, path, "") }

// leaves appends the leaves of a value, which is in the element at.
func (n *Node) leaves(list []Leaf, path, at string) []Leaf {
	switch n.Kind {
	case '{':
		for i, item := range n.Items {
			from, to := len(list), ""
			if at != "" {
				to = at + "." + n.Names[i]
			}
			list = item.leaves(list, join(path, n.Names[i]), to)
			if slices.Contains(n.Names[i+1:], n.Names[i]) {
				for k := range list[from:] {
					list[from+k].First = true
				}
			}
		}
	case '[':
		for i, item := range n.Items {
			list = item.leaves(list, path+"[]", cmp.Or(at, path)+"["+strconv.Itoa(i)+"]")
		}
	case 'n':
	default:
		if n.Value != "" {
			list = append(list, Leaf{Path: path, Value: n.Value, at: at})
		}
	}
	return list
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// each calls f with a value and all values in it.
func (n *Node) each(f func(n *Node)) {
	f(n)
	for _, item := range n.Items {
		item.each(f)
	}
}

// kindOf returns the values of the discriminators of a record, joined by blanks: of each the
// first of its paths that is there, and a dash if none is.
func kindOf(n *Node, kinds []string) string {
	out := make([]string, len(kinds))
	for i, paths := range kinds {
		out[i] = "-"
		for path := range strings.SplitSeq(paths, "|") {
			if at := n.At(path); at != nil && strings.IndexByte(`"0t`, at.Kind) >= 0 && at.Value != "" {
				out[i] = strings.ReplaceAll(at.Value, " ", "_")
				break
			}
		}
	}
	return strings.Join(out, " ")
}
