// Command image writes a container image as an OCI layout in a tar file: one
// layer with the static binary, an empty home folder and a user without rights.
// It needs no container engine, and the same inputs give the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"log"
	"os"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "", "the tar file to write")
	version := flag.String("version", "", "the version, as the image's label")
	when := flag.Int64("epoch", 0, "the time of every file, in seconds since 1970")
	flag.Parse()
	if err := run(*out, *version, time.Unix(*when, 0).UTC(), flag.Args()); err != nil {
		log.Fatal("image: ", err)
	}
}

// run makes one image of several binaries, each given as ARCH=PATH.
func run(out, version string, when time.Time, binaries []string) error {
	var l layout
	for _, arg := range binaries {
		arch, path, _ := strings.Cut(arg, "=")
		program, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		l.manifests = append(l.manifests, l.image(arch, version, when, layer(program, when)))
	}
	l.index = marshal(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": l.manifests})
	return os.WriteFile(out, l.tar(when), 0o644)
}

// layer is the root file system of a container.
func layer(program []byte, when time.Time) []byte {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	const user = 65532
	put(t, &tar.Header{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: when}, nil)
	put(t, &tar.Header{Name: "etc/passwd", Mode: 0o644, ModTime: when}, []byte("nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"))
	put(t, &tar.Header{Name: "etc/group", Mode: 0o644, ModTime: when}, []byte("nonroot:x:65532:\n"))
	put(t, &tar.Header{Name: "home/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: when}, nil)
	put(t, &tar.Header{Name: "home/nonroot/", Typeflag: tar.TypeDir, Mode: 0o700, Uid: user, Gid: user, ModTime: when}, nil)
	put(t, &tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777, ModTime: when}, nil)
	put(t, &tar.Header{Name: "usr/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: when}, nil)
	put(t, &tar.Header{Name: "usr/bin/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: when}, nil)
	put(t, &tar.Header{Name: "usr/bin/rehome", Mode: 0o755, ModTime: when}, program)
	must(t.Close())
	return b.Bytes()
}

type descriptor struct {
	MediaType string            `json:"mediaType"`
	Digest    string            `json:"digest"`
	Size      int               `json:"size"`
	Platform  map[string]string `json:"platform,omitempty"`
}

// layout collects blobs under their digests.
type layout struct {
	blobs     [][]byte
	manifests []descriptor
	index     []byte
}

func (l *layout) add(media string, data []byte) descriptor {
	l.blobs = append(l.blobs, data)
	return descriptor{MediaType: media, Digest: "sha256:" + digest(data), Size: len(data)}
}

func (l *layout) image(arch, version string, when time.Time, plain []byte) descriptor {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, err := z.Write(plain)
	must(err)
	must(z.Close())
	config := l.add("application/vnd.oci.image.config.v1+json", marshal(map[string]any{
		"architecture": arch, "os": "linux", "created": when.Format(time.RFC3339),
		"config": map[string]any{
			"User": "65532:65532", "WorkingDir": "/home/nonroot", "Entrypoint": []string{"/usr/bin/rehome"},
			"Env":    []string{"HOME=/home/nonroot", "PATH=/usr/bin"},
			"Labels": map[string]string{"org.opencontainers.image.title": "rehome", "org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "MIT"},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(plain)}},
	}))
	top := l.add("application/vnd.oci.image.layer.v1.tar+gzip", packed.Bytes())
	d := l.add("application/vnd.oci.image.manifest.v1+json", marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": []descriptor{top},
	}))
	d.Platform = map[string]string{"architecture": arch, "os": "linux"}
	return d
}

func (l *layout) tar(when time.Time) []byte {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	put(t, &tar.Header{Name: "oci-layout", Mode: 0o644, ModTime: when}, []byte(`{"imageLayoutVersion":"1.0.0"}`))
	put(t, &tar.Header{Name: "index.json", Mode: 0o644, ModTime: when}, l.index)
	for _, data := range l.blobs {
		put(t, &tar.Header{Name: "blobs/sha256/" + digest(data), Mode: 0o644, ModTime: when}, data)
	}
	must(t.Close())
	return b.Bytes()
}

func put(t *tar.Writer, h *tar.Header, data []byte) {
	h.Size = int64(len(data))
	must(t.WriteHeader(h))
	_, err := t.Write(data)
	must(err)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	must(err)
	return data
}

// must ends the program: nothing here fails but writing to memory.
func must(err error) {
	if err != nil {
		log.Fatal("image: ", err)
	}
}
