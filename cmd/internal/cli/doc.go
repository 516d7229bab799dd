// Package cli is rehome's command line, for the program rehome and for programs that add
// commands to it.
//
// The grammar is in cli.go. One file per command declares it and connects it to package convert,
// and every result can be printed as text (render_text.go) or as JSON
// (render_json.go). The table in exit.go maps errors to exit codes.
package cli
