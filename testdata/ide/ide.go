// Package ide makes stores of the Cursor IDE out of text.
package ide

import (
	"database/sql"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Cases are scripts for Build: cases/NAME.sql, one for each generation and each
// quirk.
//
//go:embed cases/*.sql
var Cases embed.FS

// Build makes the user dir that a script describes below a folder. In a script
// a line "-- file: PATH" begins a file: SQL if it is a database, else its text.
// The caller has to have the driver "sqlite" registered.
func Build(dir, script string) error {
	const mark = "-- file: "
	for _, part := range strings.Split("\n"+script, "\n"+mark)[1:] {
		name, text, _ := strings.Cut(part, "\n")
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if filepath.Base(path) != "state.vscdb" {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				return err
			}
			continue
		}
		if err := Exec(path, text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Exec runs SQL in a database, which is made if there is none.
func Exec(path, text string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(text)
	return err
}
