package sdkwrite

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/storedb"
	"rehome/formats/store"
)

// blobs writes checkpoints.ndjson, each blob once, in a goroutine of its own.
type blobs struct {
	out   *out
	async *storedb.AsyncPut  // nil: nothing waits to be written
	batch *store.Batch       // blobs that are not given to it yet; may be nil
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
	if p.batch == nil {
		p.batch = store.NewBatch(0, 2)
	}
	p.batch.Row(0)
	p.batch.End(store.Text, hex.AppendEncode(p.batch.Begin(), id[:]))
	p.batch.AddBytes(store.Blob, data)
	if p.batch.Full() {
		return p.give()
	}
	return ctx.Err()
}

// give hands the batch over.
func (p *blobs) give() error {
	if p.async == nil {
		p.async = storedb.NewAsyncPut(p.write)
	}
	b := p.batch
	p.batch = nil
	return p.async.Put(b)
}

// write writes the lines of a batch.
func (p *blobs) write(batch *store.Batch) error {
	defer batch.Release()
	for i := range batch.Rows() {
		b := append(append(p.buf[:0], p.head...), batch.Cell(i, 0).Bytes()...)
		b = base64.StdEncoding.AppendEncode(append(b, `","dataBase64":"`...), batch.Cell(i, 1).Bytes())
		b = append(b, `"}`...)
		p.out.line(b)
		if p.buf = b[:0]; cap(b) > bufferMax {
			p.buf = nil
		}
	}
	return p.out.err
}

// end waits until all blobs are written. More can follow.
func (p *blobs) end() (err error) {
	if p.batch != nil {
		err = p.give()
	}
	if p.async != nil {
		err = errors.Join(err, p.async.End())
		p.async = nil
	}
	return err
}

// mark begins a part that reset takes back.
func (p *blobs) mark() error {
	p.added = []short{}
	err := p.end()
	p.begin = p.out.size
	return err
}

func (p *blobs) reset() error {
	for _, key := range p.added {
		delete(p.known, key)
	}
	p.added = nil
	return errors.Join(p.end(), p.out.truncate(p.begin))
}
