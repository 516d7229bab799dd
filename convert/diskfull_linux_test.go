package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/golden"

	"golang.org/x/sys/unix"
)

// TestFullDisk lets the real program meet a small disk of many sizes. Where
// this process may not mount one, TestFileSizeLimit stands for it.
func TestFullDisk(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	os.Mkdir(disk, 0o777)
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Logf("no disk of our own (%v): only a limit on file sizes is tested here", err)
		return
	}
	unix.Unmount(disk, 0)
	bin := program(t)
	src := manyStores(t, 4)
	one := filepath.Join(src, "00", "store.db")
	text := filepath.Join(t.TempDir(), "text")
	if out, err := exec.Command(bin, "convert", one, text, "--to", "archive").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	routes := map[string][]string{
		"to text":      {"convert", one, "--to", "archive"},
		"to a stream":  {"convert", one, "--to", "archive", "--compress", "zstd"},
		"many to text": {"convert", src, "--to", "archive"},
		"to a store":   {"convert", text},
		"redacted":     {"redact", src, "--redact-file", write(t, filepath.Join(t.TempDir(), "words"), "answer\n")},
	}
	for name, route := range routes {
		t.Run(name, func(t *testing.T) {
			placed, refused := 0, 0
			for pages := 1; pages <= 64; pages += golden.Every() * (1 + pages/8) {
				for _, inodes := range []int{0, 1 + pages/3} {
					if fillsDisk(t, bin, disk, route, pages, inodes) {
						placed++
					} else {
						refused++
					}
				}
			}
			t.Logf("placed %d, refused %d", placed, refused)
			if placed == 0 || refused == 0 {
				t.Error("the sizes do not straddle the need")
			}
		})
	}
}

// fillsDisk converts onto a fresh disk and reports whether it was placed.
func fillsDisk(t *testing.T, bin, disk string, route []string, pages, inodes int) bool {
	t.Helper()
	options := fmt.Sprintf("size=%d", pages*os.Getpagesize())
	if inodes > 0 {
		options += fmt.Sprintf(",nr_inodes=%d", inodes)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, options); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	before := tree(t, filepath.Dir(route[1]))
	args := append([]string{route[0], route[1], filepath.Join(disk, "b")}, route[2:]...)
	out, err := exec.Command(bin, args...).CombinedOutput()
	if !slices.Equal(before, tree(t, filepath.Dir(route[1]))) {
		t.Errorf("%s: the source changed", options)
	}
	if err == nil {
		return true
	}
	if !strings.Contains(string(out), "disk is full") || strings.Contains(string(out), formats.StagingMark) {
		t.Errorf("%s: %v: %s", options, err, out)
	}
	if left := tree(t, disk); len(left) != 1 {
		t.Errorf("%s: left %q", options, left)
	}
	return false
}

// TestUpdateOnFullDisk: an update that finds no room changes nothing.
func TestUpdateOnFullDisk(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	os.Mkdir(disk, 0o777)
	placed, refused := 0, 0
	for pages := 6; pages <= 40; pages += 2 {
		if err := unix.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", pages*os.Getpagesize())); err != nil {
			t.Logf("no disk of our own (%v): only a limit on file sizes is tested here", err)
			return
		}
		src, dst := filepath.Join(t.TempDir(), "src"), filepath.Join(disk, "text")
		o := Options{To: "right", Update: true, State: t.TempDir()}
		for _, name := range []string{"a", "b"} {
			write(t, filepath.Join(src, name), leftText(100))
		}
		_, err := Convert(t.Context(), fakes(nil, nil), src, dst, o)
		if err == nil {
			for _, name := range []string{"a", "b"} {
				write(t, filepath.Join(src, name), leftText(1000))
			}
			before := tree(t, disk)
			_, err = Convert(t.Context(), fakes(nil, nil), src, dst, o)
			if err != nil && !strings.Contains(err.Error(), "disk is full") {
				t.Errorf("%d pages: %v", pages, err)
			}
			if after := tree(t, disk); (err == nil) == slices.Equal(before, after) {
				t.Errorf("%d pages: %v, left %q", pages, err, after)
			}
			if err == nil {
				placed++
			} else {
				refused++
			}
		}
		unix.Unmount(disk, unix.MNT_DETACH)
	}
	if placed == 0 || refused == 0 {
		t.Errorf("placed %d, refused %d: the sizes do not straddle the need", placed, refused)
	}
}

// TestNoPlaceToStage: a folder in which nothing can be created, even by root, is an error.
func TestNoPlaceToStage(t *testing.T) {
	src := write(t, filepath.Join(t.TempDir(), "a"), leftText(3))
	if _, err := Convert(t.Context(), fakes(nil, nil), src, "/proc/rehome", Options{To: "right"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
