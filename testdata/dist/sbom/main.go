// Command sbom writes the bill of materials of a release archive: the modules
// that the Go tools recorded in the binary, in CycloneDX 1.6. It depends on
// nothing but its input, so that two builds give the same bytes.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	artifact := flag.String("artifact", "", "the archive to describe")
	out := flag.String("out", "", "the document to write")
	flag.Parse()
	if err := run(*artifact, *out); err != nil {
		log.Fatal("sbom: ", err)
	}
}

func run(artifact, out string) error {
	data, err := os.ReadFile(artifact)
	if err != nil {
		return err
	}
	binary, err := binaryIn(artifact, data)
	if err != nil {
		return fmt.Errorf("%s: %w", artifact, err)
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return fmt.Errorf("%s: %w", artifact, err)
	}
	sum := sha256.Sum256(data)
	doc := document(filepath.Base(artifact), hex.EncodeToString(sum[:]), info)
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

// binaryIn finds the program inside an archive.
func binaryIn(name string, data []byte) ([]byte, error) {
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, err
		}
		for _, f := range z.File {
			if f.Name == "rehome.exe" {
				r, err := f.Open()
				if err != nil {
					return nil, err
				}
				defer r.Close()
				return io.ReadAll(r)
			}
		}
		return nil, errors.New("no rehome.exe in it")
	}
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(gz); ; {
		h, err := t.Next()
		if err != nil {
			return nil, fmt.Errorf("no rehome in it: %w", err)
		}
		if h.Name == "rehome" {
			return io.ReadAll(t)
		}
	}
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref,omitempty"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

func document(name, sum string, info *debug.BuildInfo) any {
	parts := []component{{Type: "framework", Ref: "go", Name: "go", Version: info.GoVersion, PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		parts = append(parts, component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl})
	}
	return map[string]any{
		"bomFormat":   "CycloneDX",
		"specVersion": "1.6",
		"version":     1,
		"metadata": map[string]any{
			"timestamp": epoch(),
			"component": component{Type: "application", Ref: name, Name: name, Version: info.Main.Version, Hashes: []hash{{"SHA-256", sum}}},
		},
		"components": parts,
	}
}

// epoch is the commit's time, which the release sets.
func epoch() string {
	n, _ := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	return time.Unix(n, 0).UTC().Format(time.RFC3339)
}
