// Package repair writes a repaired copy of stores, in the same format.
//
// The source is copied into a private folder beside the target, byte for byte, and
// checked there. Each format repairs what its rules find, in rounds, until a check
// finds nothing more that can be repaired. The result is checked again: what is still
// wrong is reported, and a repair that made something worse is an error. Then one
// rename places the copy. What is repaired, and how, is in repairs.txt.
package repair
