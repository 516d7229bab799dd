package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/loss"
	"rehome/formats/store"
	"rehome/schemas"
)

// TestPlaceElsewhere: losses of the place that a program moves the target to, and of the one that it
// read the source from, are losses of the conversion.
func TestPlaceElsewhere(t *testing.T) {
	group := func(code loss.Code) loss.Group { return loss.Loss{Code: code, At: store.Addr{File: "x"}}.Group() }
	spelled, dropped := group(loss.ServerSpelling), group(loss.ServerFile)
	chat := filepath.Join("..", "..", "..", "testdata", "chat", "before.db")
	down := errors.New("the server is gone")
	for _, c := range []struct {
		flags, to string
		read      []loss.Group
		lost      loss.Group
		fails     error
		code      int
		want      string // in the report
		placed    bool
	}{
		{"--with-secrets --strict", "archive", nil, spelled, nil, 0, `"placed": true`, true},
		{"--with-secrets --strict", "archive", nil, dropped, nil, 3, `"status": "skipped"`, false},
		{"--with-secrets --allow missing", "archive", nil, dropped, nil, 3, `"code": "L551"`, false},
		{"--with-secrets --allow dropped", "archive", nil, dropped, nil, 0, `"code": "L551"`, true},
		{"--with-secrets", "archive", []loss.Group{spelled}, dropped, nil, 0, `"code": "L556"`, true},
		{"--with-secrets", "archive", nil, dropped, nil, 0, `"backup": "old"`, true},
		{"--with-secrets", "archive", nil, dropped, down, 1, `"message": "the server is gone"`, false},
		{"--with-secrets --allow inferred", "archive", []loss.Group{dropped}, spelled, nil, 3, `"message": "losses exceed --allow: dropped`, false},
		{"--project /proj/demo", "canonical", nil, group(loss.LineNotObject), nil, 3, `"skipped": 1`, false},
	} {
		placed := false
		p := Rehome()
		p.Read = c.read
		p.Place = func(_ context.Context, accept func([]loss.Group) error) (string, error) {
			if err := accept([]loss.Group{c.lost}); err != nil {
				return "", err
			}
			placed = c.fails == nil
			return "old", c.fails
		}
		dst := filepath.Join(t.TempDir(), "dst")
		args := append([]string{"convert", chat, dst, "--json", "--to", c.to}, strings.Fields(c.flags)...)
		var stdout, stderr bytes.Buffer
		code := Run(t.Context(), p, args, &stdout, &stderr, func(string) string { return "" })
		if code != c.code || placed != c.placed || !strings.Contains(stdout.String(), c.want) {
			t.Errorf("%q: exit %d, placed %v, want %d, %v and %s\n%s%s", args, code, placed, c.code, c.placed, c.want, stdout.String(), stderr.String())
		}
		schema := "convert-result-1"
		if strings.Contains(c.want, "message") {
			schema = "error-1"
		}
		if err := schemas.Validate(schema, stdout.Bytes()); err != nil {
			t.Errorf("%q: %v\n%s", args, err, stdout.String())
		}
		if placed != strings.Contains(stdout.String(), `"placed": true`) {
			t.Errorf("%q: the report does not say what was placed\n%s", args, stdout.String())
		}
		if _, err := os.Lstat(dst); c.read != nil && !placed && err == nil {
			t.Errorf("%q: converted, though what was read is not accepted", args)
		}
	}
}
