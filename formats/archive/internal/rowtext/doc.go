// Package rowtext spells a record of typed cells as one line of JSON, and
// reads it back.
//
// A line is a JSON array: the row id, where the set has them, then one value a
// column. Class and bytes survive:
//
//	null                NULL
//	123                 INTEGER
//	1.5  1.0  -0.0      REAL, always with a point or an exponent
//	{"real":"inf"}      REAL that JSON cannot spell, also "-inf"
//	"text"              TEXT
//	{"text":{…}}        TEXT that is exactly this object or array, spliced in
//	{"blob":{…}}        BLOB whose bytes are this object or array
//	{"hex":{…}}         TEXT that is the lower-case hex of this object or array
//	{"text64":"…"}      TEXT that is not valid UTF-8, as base64
//	{"blob64":"…"}      any other BLOB
//	{"withheld":true}   a secret that stayed home
//
// Every object at a cell's place is such a tag, so no data can be mistaken for
// one. Each record has exactly one spelling: Parse refuses any other, which is
// what makes text, store, text give the same bytes.
package rowtext
