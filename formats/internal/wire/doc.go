// Package wire decodes and encodes the protobuf messages of Cursor's agents by a table.
//
// The table (messages.txt) lists the messages that the state of an agent consists of:
// field names, numbers and types, oneofs, enums, and which message a ref leads to. No
// other code knows a field number, except of protobuf's own Value and Struct. The table is
// used in three ways:
//
//   - A Codec decodes a message into a Go struct and encodes the struct again, byte for
//     byte if the message was canonical.
//   - A Walker spells a message as the JSON that protobuf defines for it, and
//     Message.AppendJSON encodes that JSON.
//   - A Reader iterates over fields, for code that looks them up in the table itself.
//
// The JSON has names in lowerCamelCase, 64-bit numbers as strings, enums by name, bytes in
// base64, and Value and Struct as plain JSON. It holds the fields that are present, in the
// order of the table. What the table does not know, or knows otherwise, is kept beside it:
//
//	"#99": {"field":99,"wire":2,"base64":"…"}   a field that is unknown, has another wire
//	                                            type, is cut short, is overridden by a later
//	                                            one, or is nested deeper than MaxDepth; a
//	                                            list if there are several
//	"#":   {"base64":"…"}                       the whole message, if there are many of these
//	"#rest": {"base64":"…"}                     bytes at the end that are not protobuf
//
// Messages are untrusted input: nothing recurses deeper than MaxDepth, and the size of the
// output is bounded by the size of the input.
package wire
