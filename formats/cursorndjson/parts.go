package cursorndjson

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// The split form: a folder for each agent, which is a store by itself, and what makes
// them one store. The files at the top never change, so two people who continue
// different agents change different files.
const (
	marker     = "rehome.json"
	markerText = `{"rehome":"cursor-ndjson","version":1}` + "\n"
	unowned    = "no.agent" // the folder of what belongs to no agent; no agent's folder has a dot

	// git may unite the lines that belong to no agent. Those of an agent would become a
	// conversation that nobody had: `rehome merge --finish` makes two agents of them.
	attributes = "* -text\n/sidecar.ndjson merge=union\n/" + unowned + "/*.ndjson merge=union\n"
)

// folderOf returns the name of an agent's folder: its id if that is a safe name of a
// file everywhere, else a hash of it.
func folderOf(id string) string {
	if filename.Safe(id) && !strings.HasPrefix(id, "h-") && id != sdkdoc.Transcripts {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "h-" + hex.EncodeToString(sum[:16])
}

// isSplit reports whether a folder is a store in the split form.
func isSplit(l *formats.Location) bool {
	if !l.IsDir() || !l.Has(marker) {
		return false
	}
	head := l.Join(marker).Head() // damaged, it is refused by those who read the store
	return bytes.HasPrefix(head, []byte(`{"rehome":`)) || bytes.Contains(head, []byte("cursor-ndjson"))
}

// part is one folder of a store: of an agent, or the store itself in the flat form.
type part struct {
	name  string                            // the folder, "" for the store itself
	first stamp                             // of its agent
	items [sdkdoc.Kinds][]store.SidecarItem // about its lines
	lacks map[string]bool                   // files and folders that are not there
}

// file returns the path of the part's file.
func (p *part) file(k sdkdoc.Kind) string { return path.Join(p.name, k.File()) }

// stamp is the place of a line among those of all parts: a time in milliseconds, and
// a number where times do not tell.
type stamp struct{ ms, tie int64 }

func (s stamp) compare(o stamp) int {
	return cmp.Or(cmp.Compare(s.ms, o.ms), cmp.Compare(s.tie, o.tie))
}

// never is after all times.
func never() stamp { return stamp{ms: math.MaxInt64} }

// placeSet is the sidecar item of a line that is not where its time says: the stamp
// that puts it there. Lines of one part never change their order.
const placeSet = "place"

// comparePlaces compares two lines by their stamps, and those of one stamp by their
// folders: that of no agent comes last.
func comparePlaces(a stamp, in string, b stamp, other string) int {
	return cmp.Or(a.compare(b), cmp.Compare(rank(in), rank(other)), cmp.Compare(in, other))
}

func rank(folder string) int {
	if folder == unowned {
		return 1
	}
	return 0
}

// claims are what a line says of its owner and its place.
type claims struct {
	agent, run, created []byte
	turn, status, last  []byte // of runs
}

func claimsOf(k sdkdoc.Kind, line []byte) (m claims) {
	for name, value := range rawjson.Members(line) {
		switch string(name) {
		case "agentId":
			m.agent = value
		case "runId":
			m.run = value
		case "createdAt":
			m.created = value
		case "turnNumber":
			m.turn = value
		case "status":
			m.status = value
		case "result":
			m.last = value
		case "blobId": // the long one is next
			if k == sdkdoc.Checkpoint && m.agent != nil {
				return m
			}
		}
	}
	return m
}

// natural returns the stamp that a line has by itself.
func (p *part) natural(k sdkdoc.Kind, m *claims) stamp {
	switch {
	case k != sdkdoc.Checkpoint:
		return stamp{ms: sdkdoc.Millis(m.created)}
	case p.name == unowned:
		return never()
	}
	return p.first // checkpoints have no time: they stand agent by agent
}

// split lists the parts of a store, by the times of their agents.
func split(ctx context.Context, root fs.FS) (parts []*part, err error) {
	list, err := fs.ReadDir(root, ".")
	if err != nil {
		return nil, err
	}
	if p := partOf("", list); p != nil {
		parts = append(parts, p)
	}
	for _, e := range list {
		if !e.IsDir() || e.Name() == sdkdoc.Transcripts {
			continue
		}
		files, _ := fs.ReadDir(root, e.Name()) // one that cannot be read is none
		if p := partOf(e.Name(), files); p != nil {
			p.first = firstStamp(ctx, root, p)
			parts = append(parts, p)
		}
	}
	slices.SortFunc(parts, func(a, b *part) int { return comparePlaces(a.first, a.name, b.first, b.name) })
	return parts, nil
}

// partOf returns the part that a folder is, nil if it has none of the files of a store.
func partOf(name string, list []fs.DirEntry) *part {
	p := &part{name: name, lacks: map[string]bool{sdkdoc.Transcripts: true}}
	for k := range sdkdoc.Kind(sdkdoc.Kinds) {
		p.lacks[k.File()] = true
	}
	some := false
	for _, e := range list {
		some = some || p.lacks[e.Name()] || e.Name() == formats.PartSidecar
		delete(p.lacks, e.Name())
	}
	if !some {
		return nil
	}
	return p
}

// firstStamp returns the stamp of the agent whose folder a part is.
func firstStamp(ctx context.Context, root fs.FS, p *part) stamp {
	at := p.file(sdkdoc.Agent)
	if p.name == unowned || p.lacks[sdkdoc.Agent.File()] {
		return never()
	}
	if info, err := fs.Stat(root, at); err != nil || !info.Mode().IsRegular() {
		return never()
	}
	f, err := root.Open(at)
	if err != nil {
		return never() // which whoever reads the lines reports
	}
	defer f.Close()
	first := never()
	for l, err := range lines.Each(ctx, f, headLine) {
		if err == nil {
			m := claimsOf(sdkdoc.Agent, l.Bytes)
			first = stamp{ms: sdkdoc.Millis(m.created)}
		}
		break
	}
	return first
}

// inPart returns an address as it is in the store: that of a part's file.
func inPart(p *part, at store.Addr) store.Addr {
	at.File = path.Join(p.name, at.File)
	return at
}
