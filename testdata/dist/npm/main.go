// Command npm lays out the packages for npm: one a platform that carries the
// binary, and `rehome`, which depends on all of them as optional ones, so that
// npm installs the one that fits. It runs `npm pack` on each.
package main

import (
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

//go:embed rehome.js README.md
var files embed.FS

// platforms are the packages by the names of Go; npm has its own.
var platforms = map[string]struct{ os, cpu, binary string }{
	"linux_amd64":   {"linux", "x64", "rehome"},
	"linux_arm64":   {"linux", "arm64", "rehome"},
	"darwin_amd64":  {"darwin", "x64", "rehome"},
	"darwin_arm64":  {"darwin", "arm64", "rehome"},
	"windows_amd64": {"win32", "x64", "rehome.exe"},
	"windows_arm64": {"win32", "arm64", "rehome.exe"},
}

func main() {
	log.SetFlags(0)
	version := flag.String("version", "", "the version")
	scope := flag.String("scope", "@rehome", "the scope of the packages with binaries")
	dist := flag.String("dist", "dist", "where goreleaser put the binaries")
	flag.Parse()
	if err := run(*version, *scope, *dist); err != nil {
		log.Fatal("npm: ", err)
	}
}

func run(version, scope, dist string) error {
	work, err := os.MkdirTemp("", "rehome-npm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	optional := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(platforms)) {
		p := platforms[key]
		found, err := filepath.Glob(filepath.Join(dist, "rehome_"+key+"_*", p.binary))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("%s: %d binaries (%w)", key, len(found), err)
		}
		name := scope + "/" + p.os + "-" + p.cpu
		optional[name] = version
		dir := filepath.Join(work, key)
		program, err := os.ReadFile(found[0])
		if err != nil {
			return err
		}
		if err := lay(dir, map[string]any{
			"name": name, "version": version, "license": "MIT", "description": "The " + p.os + "-" + p.cpu + " binary of rehome",
			"os": []string{p.os}, "cpu": []string{p.cpu}, "preferUnplugged": true, "files": []string{"bin"},
		}, map[string][]byte{"bin/" + p.binary: program}); err != nil {
			return err
		}
		if err := pack(dir, dist); err != nil {
			return err
		}
	}
	script, err := fs.ReadFile(files, "rehome.js")
	if err != nil {
		return err
	}
	readme, err := fs.ReadFile(files, "README.md")
	if err != nil {
		return err
	}
	dir := filepath.Join(work, "main")
	if err := lay(dir, map[string]any{
		"name": "rehome", "version": version, "license": "MIT",
		"description": "Migrate coding-agent sessions, keep them in git, and check them",
		"homepage":    "https://HOST/OWNER/rehome",
		"bin":         map[string]string{"rehome": "bin/rehome.js"}, "files": []string{"bin"},
		"engines": map[string]string{"node": ">=18"}, "optionalDependencies": optional,
	}, map[string][]byte{"bin/rehome.js": script, "README.md": readme}); err != nil {
		return err
	}
	return pack(dir, dist)
}

func lay(dir string, manifest map[string]any, content map[string][]byte) error {
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	content["package.json"] = append(text, '\n')
	for name, data := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o755); err != nil {
			return err
		}
	}
	return nil
}

func pack(dir, dist string) error {
	to, err := filepath.Abs(filepath.Join(dist, "npm"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	c := exec.Command("npm", "pack", "--silent", "--offline", "--pack-destination", to)
	c.Dir, c.Stderr = dir, os.Stderr
	return c.Run()
}
