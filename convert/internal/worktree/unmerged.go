package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Sides are the object ids of a file with a conflict: in the common ancestor, in the
// current commit and in the other one; "" where it does not exist.
type Sides struct{ Base, Ours, Theirs string }

// Unmerged returns the files with conflicts, by their slash paths below the root of the
// work tree.
func Unmerged(ctx context.Context, top string) (map[string]Sides, error) {
	out, err := command(ctx, top, "ls-files", "--unmerged", "-z").Output()
	if err != nil {
		return nil, fmt.Errorf("git cannot list files with conflicts: %w", err)
	}
	files := map[string]Sides{}
	for line := range strings.SplitSeq(string(out), "\x00") {
		// <mode> <id> <stage>\t<path>
		what, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(what)
		if !ok || len(f) != 3 {
			continue
		}
		s := files[name]
		switch f[2] {
		case "1":
			s.Base = f[1]
		case "2":
			s.Ours = f[1]
		case "3":
			s.Theirs = f[1]
		}
		files[name] = s
	}
	return files, nil
}

// Operation is what stopped at conflicts.
type Operation struct {
	Name     string   // of the head in the repository: MERGE_HEAD
	Theirs   string   // a commit
	Bases    []string // commits; none if they have no common ancestor
	Continue string   // the command that finishes it
}

// ErrNone is the error of Stopped if nothing has stopped.
var ErrNone = errors.New("no merge, rebase or cherry-pick has stopped at a conflict")

// Stopped returns the operation that stopped at conflicts.
func Stopped(ctx context.Context, top string) (o Operation, err error) {
	parse := func(args ...string) string {
		out, err := command(ctx, top, append([]string{"rev-parse", "--verify", "--quiet"}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	commits := func(rev string) []string {
		return slices.DeleteFunc([]string{parse(rev)}, func(id string) bool { return id == "" })
	}
	dir := gitDir(top)
	has := func(names ...string) bool { return hasAny(dir, names...) }
	const rebase = "git rebase --continue"
	rebasing := has("rebase-merge", "rebase-apply")
	switch {
	case has("MERGE_HEAD"):
		heads, err := os.ReadFile(filepath.Join(dir, "MERGE_HEAD"))
		if err != nil || bytes.Count(heads, []byte("\n")) > 1 {
			return o, errors.Join(err, errors.New("a merge of more than two branches"))
		}
		o = Operation{"MERGE_HEAD", parse("MERGE_HEAD^{commit}"), nil, "git commit"}
		if rebasing {
			o.Continue = rebase
		}
		out, err := command(ctx, top, "merge-base", "--all", "HEAD", "MERGE_HEAD").Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
			err = nil // unrelated histories
		}
		if err != nil {
			return o, fmt.Errorf("git merge-base: %w", err)
		}
		o.Bases = strings.Fields(string(out))
	case rebasing && parse("REBASE_HEAD^{commit}") != "":
		o = Operation{"REBASE_HEAD", parse("REBASE_HEAD^{commit}"), commits("REBASE_HEAD^1^{commit}"), rebase}
	case has("CHERRY_PICK_HEAD"):
		o = Operation{"CHERRY_PICK_HEAD", parse("CHERRY_PICK_HEAD^{commit}"), commits("CHERRY_PICK_HEAD^1^{commit}"), "git cherry-pick --continue"}
	case has("REVERT_HEAD"):
		o = Operation{"REVERT_HEAD", parse("REVERT_HEAD^1^{commit}"), commits("REVERT_HEAD^{commit}"), "git revert --continue"}
	case parse("refs/stash^{commit}") != "":
		o = Operation{"refs/stash", parse("refs/stash^{commit}"), commits("refs/stash^1^{commit}"), "git stash drop"}
	default:
		return o, ErrNone
	}
	if o.Theirs == "" {
		return o, fmt.Errorf("git cannot read %s", o.Name)
	}
	return o, nil
}

// Merging reports whether a merge, a rebase or a cherry-pick is under way, without git.
func Merging(top string) bool {
	return hasAny(gitDir(top), "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
}

func hasAny(dir string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// Has reports whether a commit has a file as a side of a conflict has it. The id is ""
// if neither has it.
func (r *Revision) Has(name, id string) bool { return r.ids[name] == id }

// Names returns the files at and below a slash path.
func (r *Revision) Names(at string) (out []string) {
	for name := range r.ids {
		if name == at || Within(map[string]bool{at: true}, name) {
			out = append(out, name)
		}
	}
	return out
}

// Marked reports whether a file marks the root as a store.
func (r *Revision) Marked() bool {
	return slices.ContainsFunc(markers[:], func(m string) bool { return r.ids[m] != "" })
}

// ID returns the id of a file, "" if there is none.
func (r *Revision) ID(name string) string { return r.ids[name] }

// Blob passes on the content of a blob.
func Blob(ctx context.Context, top, id string, read func(io.Reader) error) error {
	cmd := command(ctx, top, "cat-file", "blob", id)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	err = read(out)
	out.Close()
	return errors.Join(err, cmd.Wait())
}

// filtering returns a command of git that reads files of the work tree, without the filters
// that the configuration has for them.
func filtering(ctx context.Context, top string, args ...string) (*exec.Cmd, error) {
	out, err := command(ctx, top, "config", "--null", "--name-only", "--get-regexp", `^filter\..*\.(clean|process|required)$`).Output()
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return nil, fmt.Errorf("git config: %w", err)
	}
	cmd, n := command(ctx, top, args...), 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name == "" {
			break
		}
		cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=", n)) // "" is false, too
		n++
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
	return cmd, nil
}

// Blobs returns the ids that files of the work tree get if they are added by Add.
func Blobs(ctx context.Context, top string, names []string) ([]string, error) {
	for _, name := range names {
		if strings.ContainsAny(name, "\n\r\"") {
			return nil, fmt.Errorf("%q: git cannot be asked for the content of a file with this name", name)
		}
	}
	cmd, err := filtering(ctx, top, "hash-object", "--stdin-paths")
	if err != nil {
		return nil, err
	}
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	ids := strings.Fields(string(out))
	if err != nil || len(ids) != len(names) {
		return nil, fmt.Errorf("git cannot read the files of the work tree: %w", errors.Join(err, fmt.Errorf("%d of %d", len(ids), len(names))))
	}
	return ids, nil
}

// Add stages paths as they are in the work tree: files, folders, and what is removed; also
// what is ignored, or not a part of a sparse work tree. No filter runs.
func Add(ctx context.Context, top string, paths ...string) error {
	args := []string{"--literal-pathspecs", "add", "--all", "--force", "--"}
	if sparse, err := command(ctx, top, "config", "--bool", "core.sparseCheckout").Output(); err == nil && strings.TrimSpace(string(sparse)) == "true" {
		args[len(args)-1] = "--sparse" // older versions of git do not know it
		args = append(args, "--")
	}
	cmd, err := filtering(ctx, top, append(args, paths...)...)
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git add: %s: %w", strings.TrimSpace(string(out)), err)
	}
	return nil
}
