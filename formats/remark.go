package formats

import "strings"

const fromCopy = "; read from a copy"

// Copied returns the remark (see View.Say) that a database is read from a copy,
// because of what is not merged into it yet.
func Copied(path, pending string) string { return path + " has " + pending + fromCopy }

// Detail reports whether a remark is of no interest unless somebody asks for
// details: nothing is lost and nothing has to be done.
func Detail(remark string) bool { return strings.HasSuffix(remark, fromCopy) }
