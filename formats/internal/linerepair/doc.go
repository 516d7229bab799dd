// Package linerepair repairs files of JSON lines: what linecheck finds wrong with
// their lines as text.
//
// A file is read once and written once, line by line, next to the old one, which it
// then replaces. Only lines with a finding change; all others are copied byte for
// byte.
package linerepair
