// Package notice lists the licenses of what a program links, for its file NOTICE.
package notice

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/golden"
)

// Check compares a file with the licenses of everything that the packages in dir and below
// link on any target. `make notice` rewrites it. root is the top of the checkout.
func Check(t *testing.T, root, dir, file string) {
	t.Helper()
	old, _ := os.ReadFile(file) // none yet is a difference, too
	fresh := []byte(notice(t, components(t, root, dir)))
	switch {
	case bytes.Equal(old, fresh):
	case !golden.Updating():
		t.Errorf("%s does not say what is linked; `make notice` rewrites it\n%s", file, golden.Diff(old, fresh))
	default:
		if err := os.WriteFile(file, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("golden: %s rewritten", file)
	}
}

// component is somebody else's work, and the files with its licenses.
type component struct {
	name  string
	files []string
}

// components lists the modules that are linked, Go itself, and embedded data.
func components(t *testing.T, root, dir string) []component {
	t.Helper()
	names, files := map[string]string{}, map[string]map[string]bool{}
	for _, target := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"} {
		system, arch, _ := strings.Cut(target, "/")
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}}|{{.Version}}|{{.Dir}}|{{$.Dir}}{{end}}{{end}}", "./...")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSpace(line), "|")
			if len(f) != 4 {
				continue
			}
			if names[f[0]] = f[0] + " " + f[1]; files[f[0]] == nil {
				files[f[0]] = map[string]bool{}
			}
			for _, file := range licenses(t, f[2], f[3]) {
				files[f[0]][file] = true
			}
		}
	}
	var out []component
	for _, module := range slices.Sorted(maps.Keys(names)) {
		out = append(out, component{names[module], slices.Sorted(maps.Keys(files[module]))})
	}
	// Its text is that of Go's own license, which not every distribution of Go
	// brings along.
	sys := slices.IndexFunc(out, func(c component) bool { return strings.HasPrefix(c.name, "golang.org/x/sys ") })
	out = append(out, component{"Go, its runtime and standard library", out[sys].files})
	return append(out, rulesOfGitleaks(t, root))
}

func rulesOfGitleaks(t *testing.T, root string) component {
	t.Helper()
	dir := filepath.Join(root, "convert", "internal", "leaks", "gitleaks")
	text, err := os.ReadFile(filepath.Join(dir, "rules.json"))
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`"source": "([^"]+)"`).FindSubmatch(text)
	if source == nil {
		t.Fatal("the rules do not name their source")
	}
	return component{string(source[1]) + ", its rules", []string{filepath.Join(dir, "LICENSE")}}
}

// notLinked are license files beside code that is linked, which are not about
// it.
var notLinked = []string{
	"modernc.org/sqlite/LICENSE-3RD-PARTY.md", // repeats those of its whole module graph, tools and tests included
	"modernc.org/sqlite/LICENSE-SQLITE_VEC",   // an extension that is not imported
	"modernc.org/memory/LICENSE-LOGO",         // a picture
}

// licenses finds the license files of a package: in its folder and the folders
// above it, up to its module's.
func licenses(t *testing.T, module, dir string) (out []string) {
	t.Helper()
	named := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense)`)
	for ; strings.HasPrefix(dir, module); dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			about := slices.ContainsFunc(notLinked, func(s string) bool {
				home, name, _ := strings.Cut(s, "/LICENSE")
				return strings.Contains(filepath.ToSlash(dir), home+"@") && e.Name() == "LICENSE"+name
			})
			if !e.IsDir() && named.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" && !about {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out
}

// notice prints a table of the components, and each license text once.
func notice(t *testing.T, parts []component) string {
	t.Helper()
	var table, texts strings.Builder
	seen := map[string]int{}
	for _, c := range parts {
		var ids, numbers []string
		for _, file := range c.files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			words := strings.Join(strings.Fields(string(text)), " ")
			known := idsOf(words)
			if len(known) == 0 && !strings.HasPrefix(filepath.Base(file), "NOTICE") { // which names people
				t.Errorf("%s: a license that no component had so far: may it be linked?", file)
			}
			ids = append(ids, known...)
			if seen[words] == 0 {
				seen[words] = len(seen) + 1
				fmt.Fprintf(&texts, "\n%s\n[%d]\n\n%s\n", strings.Repeat("-", 80), seen[words], tidy(text))
			}
			numbers = append(numbers, fmt.Sprintf("[%d]", seen[words]))
		}
		if len(c.files) == 0 {
			t.Errorf("%s has no license", c.name)
		}
		slices.Sort(ids)
		fmt.Fprintf(&table, "%s\n    %s %s\n", c.name, strings.Join(slices.Compact(ids), ", "), strings.Join(numbers, " "))
	}
	return "rehome includes the work of others. Their names, versions and licenses are listed\n" +
		"here; the texts of the licenses follow. `make notice` writes this file.\n\n" + table.String() + texts.String()
}

// idsOf names the licenses in a text, by words that only they have.
func idsOf(text string) (ids []string) {
	for _, l := range []struct{ id, has, lacks string }{
		{"Apache-2.0", "Apache License Version 2.0, January 2004", ""},
		{"BSD-2-Clause", "Redistribution and use in source and binary forms", "Neither the name"},
		{"BSD-3-Clause", "Neither the name", ""},
		{"MIT", "Permission is hereby granted, free of charge", ""},
		{"public domain", "has been dedicated to the public domain", ""},
	} {
		if strings.Contains(text, l.has) && (l.lacks == "" || !strings.Contains(text, l.lacks)) {
			ids = append(ids, l.id)
		}
	}
	return ids
}

// tidy takes off what editors would: carriage returns, and space at line ends.
func tidy(text []byte) string {
	var lines []string
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.TrimRight(line, " \t\r\n"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
