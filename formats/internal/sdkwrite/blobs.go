package sdkwrite

import (
	"context"
	"encoding/base64"
	"encoding/hex"

	"rehome/formats/internal/agentstate"
)

// blobs writes checkpoints.ndjson, each blob once.
type blobs struct {
	out   *out
	head  []byte             // before the id of a blob
	known map[short]struct{} // blobs that were written
	added []short            // of these, since the mark; nil: there is no mark
	begin int64              // size of the file at the mark
	buf   []byte
}

// short is the beginning of a blob's id: enough of a SHA-256 to tell blobs apart.
type short [16]byte

func newBlobs(o *out, agent string) *blobs {
	head := append(quote([]byte(`{"agentId":`), agent), `,"blobId":"`...)
	return &blobs{out: o, head: head, known: map[short]struct{}{}}
}

// put writes a blob.
func (p *blobs) put(ctx context.Context, id agentstate.ID, data []byte) error {
	key := short(id[:len(short{})])
	if _, there := p.known[key]; there {
		return nil
	}
	p.known[key] = struct{}{}
	if p.added != nil {
		p.added = append(p.added, key)
	}
	b := hex.AppendEncode(append(p.buf[:0], p.head...), id[:])
	b = base64.StdEncoding.AppendEncode(append(b, `","dataBase64":"`...), data)
	b = append(b, `"}`...)
	p.out.line(b)
	if p.buf = b[:0]; cap(b) > bufferMax {
		p.buf = nil
	}
	return ctx.Err()
}

// mark begins a part that reset takes back.
func (p *blobs) mark() { p.added, p.begin = []short{}, p.out.size }

func (p *blobs) reset() error {
	for _, key := range p.added {
		delete(p.known, key)
	}
	p.added = nil
	return p.out.truncate(p.begin)
}
