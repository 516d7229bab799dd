package cursorndjson

import (
	"strings"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/forks"
	"rehome/formats/internal/members"
	"rehome/formats/internal/sdkdoc"
	"rehome/internal/rawjson"
)

// merge says how two people's copies of a store in the split form unite. The runs of an
// agent are its conversation. Events and checkpoints are added, and never change.
func merge() *formats.Merge {
	keyed := func(id string, more ...string) func([]byte) (string, string) {
		members := append([]string{id}, more...)
		return func(line []byte) (string, string) { return forks.Key(line, members...), rawjson.TextAt(line, id) }
	}
	other := func(members ...string) func([]byte) (string, string) {
		return func(line []byte) (string, string) { return forks.Key(line, members...), "" }
	}
	return &formats.Merge{
		Via:   name,
		Owner: owner,
		Files: []formats.MergeFile{
			{Name: sdkdoc.Run.File(), Key: keyed("runId"), History: true},
			{Name: sdkdoc.Event.File(), Key: other("runId", "seq"), Fixed: true},
			{Name: sdkdoc.Checkpoint.File(), Key: other("agentId", "blobId"), Fixed: true},
			{Name: sdkdoc.Agent.File(), Key: keyed("agentId"), Session: true, Updated: updated},
			{Name: formats.PartSidecar, State: true},
			{Name: "*.jsonl", State: true}, // transcripts, which the SDK writes again
		},
		Fork: func(id, digest string) string {
			kind, _, _ := strings.Cut(id, "-")
			if kind != "agent" && kind != "run" {
				kind = "agent"
			}
			return kind + "-" + filename.NamedUUID("rehome/cursor-ndjson/fork/1\x00", id, digest)
		},
		Rewrite: rewrite,
	}
}

// updated returns the time in the line of an agent.
func updated(line []byte) int64 {
	ms, _ := members.Whole(rawjson.Last(line, "updatedAt"))
	return ms
}

// owner returns the folder of an agent, which is its id or a hash of it.
func owner(p string) string {
	folder, _, in := strings.Cut(p, "/")
	if !in || folder == sdkdoc.Transcripts || folder == unowned {
		return ""
	}
	return folder
}

// rewrite gives a line to a fork.
func rewrite(dst, line []byte, p string, ids map[string]string, title string) (out []byte, titled bool) {
	if strings.HasSuffix(p, "/"+sdkdoc.Agent.File()) {
		line, titled = forks.Retitle(line, "name", title)
	}
	return forks.Rename(dst, line, ids), titled
}
