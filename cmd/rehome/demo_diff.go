package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// treeDiff is what changed between two folders.
type treeDiff struct {
	tool           string // the command line a reader can repeat; "" without git
	stat           string
	text           string
	added, removed int
}

// diffTrees asks git, which is what the text is made for. Where there is no
// git, lines are compared here.
func diffTrees(ctx context.Context, folder, a, b string, getenv func(string) string) (treeDiff, error) {
	git, err := lookPath("git", getenv("PATH"))
	if err != nil {
		return plainDiff(filepath.Join(folder, a), filepath.Join(folder, b), a, b)
	}
	ask := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, git, slices.Concat([]string{"diff", "--no-index", "--no-color", "--no-ext-diff"}, args, []string{a, b})...)
		cmd.Dir = folder
		// The reader's own settings would change what is printed.
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
			err = nil // 1 says that there are differences
		}
		return string(out), err
	}
	d := treeDiff{tool: "git diff --no-index -U1 " + a + " " + b}
	numbers, err := ask("--numstat")
	if err == nil {
		d.stat, err = ask("--stat=76")
	}
	if err == nil {
		d.text, err = ask("-U1")
	}
	for line := range strings.Lines(numbers) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		plus, _ := strconv.Atoi(f[0]) // "-" for a binary file, which has no lines
		minus, _ := strconv.Atoi(f[1])
		d.added, d.removed = d.added+plus, d.removed+minus
	}
	return d, err
}

// lookPath finds a program on the PATH that the caller was given, which in
// tests is not the process's own.
func lookPath(name, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// plainDiff compares file by file and line by line.
func plainDiff(a, b, nameA, nameB string) (treeDiff, error) {
	left, err := readTree(a)
	if err != nil {
		return treeDiff{}, err
	}
	right, err := readTree(b)
	if err != nil {
		return treeDiff{}, err
	}
	names := maps.Clone(left)
	maps.Copy(names, right)
	var d treeDiff
	var text strings.Builder
	files := 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if bytes.Equal(left[name], right[name]) {
			continue
		}
		files++
		fmt.Fprintf(&text, "--- %s/%s\n+++ %s/%s\n", nameA, name, nameB, name)
		old, fresh := lines(left[name]), lines(right[name])
		for _, h := range hunks(old, fresh) {
			fmt.Fprintf(&text, "@@ -%s +%s @@\n", lineRange(h.old, h.removed), lineRange(h.fresh, h.added))
			for _, l := range old[h.old : h.old+h.removed] {
				text.WriteString("-" + l + "\n")
			}
			for _, l := range fresh[h.fresh : h.fresh+h.added] {
				text.WriteString("+" + l + "\n")
			}
			d.added, d.removed = d.added+h.added, d.removed+h.removed
		}
	}
	d.text = text.String()
	d.stat = fmt.Sprintf(" %d files changed, %d insertions(+), %d deletions(-)\n", files, d.added, d.removed)
	return d, nil
}

// lineRange spells a place as diff does: one without lines is named by the
// line before it.
func lineRange(from, n int) string {
	if n > 0 {
		from++
	}
	return fmt.Sprintf("%d,%d", from, n)
}

// hunk is a run of lines that others have taken the place of.
type hunk struct{ old, removed, fresh, added int }

// hunks finds the longest common subsequence of lines, by the textbook: the
// demo's files are small.
func hunks(a, b []string) []hunk {
	common := make([][]int, len(a)+1) // of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []hunk
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		h := hunk{old: i, fresh: j}
		for (i < len(a) || j < len(b)) && (i == len(a) || j == len(b) || a[i] != b[j]) {
			if j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		h.removed, h.added = i-h.old, j-h.fresh
		out = append(out, h)
	}
	return out
}

func lines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}
