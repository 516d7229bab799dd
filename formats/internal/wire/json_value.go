package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"rehome/internal/rawjson"
)

// sized is a field of bytes that is being written: where its content begins, and the room
// for its length before that.
type sized struct{ from, room int }

// open appends the tag of a field, and room for a length of about size.
func open(dst []byte, num, size int) ([]byte, sized) {
	dst = protowire.AppendTag(dst, protowire.Number(num), protowire.BytesType)
	room := protowire.SizeVarint(uint64(size))
	dst = append(dst, make([]byte, room)...)
	return dst, sized{len(dst), room}
}

// close writes the length, once the content is written.
func (s sized) close(dst []byte) []byte {
	n := len(dst) - s.from
	room := protowire.SizeVarint(uint64(n))
	if room > s.room {
		dst = append(dst, make([]byte, room-s.room)...)
	}
	if at := s.from - s.room; room != s.room {
		copy(dst[at+room:], dst[s.from:s.from+n])
		dst = dst[:at+room+n]
	}
	binary.PutUvarint(dst[s.from-s.room:], uint64(n))
	return dst
}

// appendAnything appends any JSON as a google.protobuf.Value.
func appendAnything(dst, value []byte, depth int) ([]byte, error) {
	if depth >= MaxDepth {
		return dst, fmt.Errorf("JSON is nested deeper than %d", MaxDepth)
	}
	switch value[0] {
	case 'n':
		return appendVarint(dst, valueNull, 0), nil
	case 't', 'f':
		return appendVarint(dst, valueBool, protowire.EncodeBool(value[0] == 't')), nil
	case '"':
		dst, s := open(dst, valueString, len(value))
		return s.close(appendText(dst, value)), nil
	case '{':
		dst, s := open(dst, valueStruct, len(value))
		dst, err := appendStruct(dst, value, depth+1)
		return s.close(dst), err
	case '[':
		dst, s := open(dst, valueList, len(value))
		for e := range rawjson.Elements(value) {
			var err error
			var in sized
			dst, in = open(dst, membersNum, len(e))
			if dst, err = appendAnything(dst, e, depth+1); err != nil {
				return dst, err
			}
			dst = in.close(dst)
		}
		return s.close(dst), nil
	}
	x, err := strconv.ParseFloat(string(value), 64)
	dst = protowire.AppendTag(dst, valueNumber, protowire.Fixed64Type)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x)), err
}

// appendStruct appends an object as a google.protobuf.Struct.
func appendStruct(dst, object []byte, depth int) ([]byte, error) {
	if object[0] != '{' {
		return dst, fmt.Errorf("expected an object")
	}
	for key, value := range rawjson.Members(object) {
		entry, in := sized{}, sized{}
		dst, entry = open(dst, membersNum, len(key)+len(value))
		dst, in = open(appendKey(dst, key), valueNum, len(value))
		var err error
		if dst, err = appendAnything(dst, value, depth); err != nil {
			return dst, err
		}
		dst = entry.close(in.close(dst))
	}
	return dst, nil
}

// appendText appends the text of a JSON string as protobuf requires it: half a surrogate
// pair is not UTF-8, and becomes U+FFFD.
func appendText(dst, value []byte) []byte { return rawjson.AppendUTF8(dst, value[1:len(value)-1]) }

// appendKey appends the key of an entry, likewise.
func appendKey(dst, key []byte) []byte {
	if !utf8.Valid(key) {
		key = bytes.ToValidUTF8(key, []byte("\uFFFD"))
	}
	return appendBytes(dst, keyNum, key)
}

func appendBase64Text(dst, value []byte) ([]byte, error) {
	text := []byte(nil)
	if rawjson.IsText(value) {
		if text = value[1 : len(value)-1]; bytes.IndexByte(text, '\\') >= 0 {
			text = rawjson.AppendText(nil, value)
		}
	}
	return base64.StdEncoding.Strict().AppendDecode(dst, text)
}
