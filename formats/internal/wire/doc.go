// Package wire spells protobuf as JSON by a table of messages, and walks its
// fields for those who know their numbers.
//
// The table (messages.txt) holds the messages that an agent's state is made of.
// A Walker turns the bytes of one into the JSON that protobuf defines for it:
// names in lowerCamelCase, 64-bit numbers as strings, enums by name, bytes in
// base64, Value and Struct as plain JSON; of the fields only those that are
// there, in the table's order. What the table does not know, or knows
// otherwise, is kept beside it and never dropped:
//
//	"#99": {"field":99,"wire":2,"base64":"…"}   a field without a name, of
//	                                            another wire type, cut short,
//	                                            outdone by a later one, or deeper
//	                                            than MaxDepth; a list if several
//	"#":   {"base64":"…"}                       many of them, as they stood
//	"#rest": {"base64":"…"}                     behind the place where the bytes
//	                                            stop being protobuf
//
// Messages come from strangers: nothing here recurses deeper than MaxDepth, and
// the output is bounded by the input.
package wire
