package codex

import (
	"io/fs"
	"os"
	"strings"

	"rehome/formats"
)

// private are the entries of CODEX_HOME in which there are no rollouts.
const private = " attachments cache log logs memories models plugins prompts rules shell_snapshots skills tmp vendor worktrees" +
	" history.jsonl session_index.jsonl "

// strays returns the files and folders beside the rollouts of a store.
func strays(l *formats.Location) (out []string) {
	y := layout()
	fs.WalkDir(os.DirFS(l.Path), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || p == ".": // whoever reads the store reports it
		case e.IsDir() && y.Enter(p):
		case strings.Contains(private, " "+p+" ") || e.Name() == ".git":
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir():
			out = append(out, p)
			return fs.SkipDir
		case e.Type().IsRegular() && (strings.HasSuffix(p, ".jsonl") || strings.HasSuffix(p, ".jsonl.zst")):
			if _, ok := y.Match(p, false); !ok {
				out = append(out, p)
			}
		}
		return nil
	})
	return out
}
