package main

import (
	"errors"
	"path/filepath"

	"rehome/convert"
	"rehome/formats"
)

type detectCmd struct {
	Paths []string `arg:"" name:"path" help:"Files or folders to identify. Folders are searched for stores."`
}

func (detectCmd) Help() string {
	return `Prints each format that recognizes a path, with a score and the evidence, best match first. Only the beginning of a
file is read.

Examples:

    rehome detect store.db
    rehome detect ~/.cursor/chats --json`
}

// detectResult lists the formats of each path: schema detect-result-1. A folder
// of stores has one row per store.
type detectResult struct {
	Paths []detectedPath `json:"paths"`
}

type detectedPath struct {
	Path    string        `json:"path"`
	Matches []formatMatch `json:"matches"`
	Error   *pathError    `json:"error,omitempty"`
}

type formatMatch struct {
	Format   string   `json:"format"`
	Title    string   `json:"title"`
	Score    int      `json:"score"`
	Evidence []string `json:"evidence"`
}

type pathError struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Run identifies every path, and continues after one that fails.
func (c *detectCmd) Run(a *app) error {
	res := &detectResult{Paths: []detectedPath{}}
	var failed []error
	for _, path := range c.Paths {
		rows, err := detect(a, path)
		res.Paths = append(res.Paths, rows...)
		if err != nil {
			row := detectedPath{Path: path, Matches: []formatMatch{}}
			row.Error = &pathError{err.Error(), formats.Hint(err)}
			res.Paths = append(res.Paths, row)
			failed = append(failed, err)
		}
	}
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if err := a.out.printResult(res); err != nil {
		return err
	}
	if len(failed) > 0 {
		return reported{errors.Join(failed...)}
	}
	return nil
}

// detect identifies the stores at and below a path.
func detect(a *app, path string) ([]detectedPath, error) {
	var rows []detectedPath
	for found, err := range convert.Stores(a.ctx, a.reg, path, "") {
		if err != nil {
			return rows, err
		}
		row := detectedPath{Path: filepath.Join(path, found.Rel), Matches: []formatMatch{}}
		if found.Rel == "." {
			row.Path = path
		}
		for _, d := range found.Detected {
			row.Matches = append(row.Matches, formatMatch{d.Format.Name, d.Format.Title, d.Score, list(d.Evidence)})
		}
		rows = append(rows, row)
	}
	return rows, nil
}
