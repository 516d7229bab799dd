package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Index returns what is to be committed as a revision. In a hook, that is the index that
// git names in the environment.
func Index(ctx context.Context, top string) (*Revision, error) {
	cmd := command(ctx, top, "ls-files", "--cached", "--stage", "-z")
	if file := os.Getenv("GIT_INDEX_FILE"); file != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+file)
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git cannot list what is staged: %w", err)
	}
	r := &Revision{ctx, top, map[string]string{}}
	for line := range strings.SplitSeq(string(out), "\x00") {
		// <mode> <id> <stage>\t<path>
		what, name, ok := strings.Cut(line, "\t")
		if f := strings.Fields(what); ok && len(f) == 3 && strings.HasPrefix(f[0], "100") {
			r.ids[name] = f[1] // of a file with a conflict, that of its last side
		}
	}
	return r, nil
}

// Changed returns the files that are not the same in a commit, also those that only the
// commit has.
func (r *Revision) Changed(from *Committed) (out []string) {
	for name, id := range r.ids {
		if from.ids[name] != id {
			out = append(out, name)
		}
	}
	for name := range from.ids {
		if r.ids[name] == "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Names of files that mark the folder of a store, and ends of those that can hold sessions.
var (
	markers = [...]string{"manifest.json", "rehome.json", "index.db"}
	ends    = [...]string{".jsonl", ".ndjson", ".db", ".vscdb"}
)

// Lost returns the files that only the commit has, that can mark a folder as a store, and
// whose folder still has others.
func (r *Revision) Lost(from *Committed) (out []string) {
	folders := map[string]bool{}
	for name := range r.ids {
		for dir := path.Dir(name); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for name := range from.ids {
		if r.ids[name] == "" && slices.Contains(markers[:], path.Base(name)) && folders[path.Dir(name)] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Store returns the path of the store that a file is of: the folder of files that belong
// together, or the file. It is "" if the file cannot be a part of a store.
func (r *Revision) Store(name string) string {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		for _, m := range markers {
			if r.ids[dir+"/"+m] != "" {
				return dir
			}
		}
	}
	switch ext := path.Ext(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")); {
	case !slices.Contains(ends[:], ext):
		return ""
	case ext == ".ndjson" && path.Dir(name) != ".":
		return path.Dir(name)
	}
	return name
}

// Ignores returns the files that say what to skip when sessions are checked.
func (r *Revision) Ignores() (out []string) {
	for name := range r.ids {
		if base := path.Base(name); base == ".rehomeignore" || name == ".rehome-baseline.json" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Config runs git config on the configuration of the repository, and returns what it
// prints: "" if there is no such value.
func Config(ctx context.Context, top string, args ...string) (string, error) {
	cmd := command(ctx, top, append([]string{"config", "--local"}, args...)...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 && strings.HasPrefix(args[0], "--get") {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("git config: %w", err)
	}
	return string(out), nil
}

// Hooks returns the folder of the repository's hooks, and whether the configuration
// names another one than the usual.
func Hooks(ctx context.Context, top string) (dir string, other bool, err error) {
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--git-path", "hooks", "--git-common-dir")
	cmd.Dir, cmd.Env = top, environment()
	out, err := cmd.Output()
	list := strings.Split(string(out), "\n")
	if err != nil || len(list) != 3 {
		return "", false, fmt.Errorf("git cannot name the folder of hooks: %w", err)
	}
	for i := range list[:2] {
		if !filepath.IsAbs(list[i]) {
			list[i] = filepath.Join(top, list[i])
		}
	}
	return list[0], filepath.Clean(list[0]) != filepath.Join(list[1], "hooks"), nil
}
