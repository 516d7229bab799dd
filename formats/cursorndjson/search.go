package cursorndjson

import (
	"context"
	"errors"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdksession"
	"rehome/internal/rawjson"
)

// search searches the lines and transcripts of a store.
func search(ctx context.Context, l *formats.Location, v formats.View, s *formats.Scan) (err error) {
	r, err := newReader(ctx, l, formats.View{})
	if err != nil {
		return err
	}
	d := newDecoder(v)
	d.reader, d.Root = *r, r.root
	defer func() { err = errors.Join(err, d.Close()) }()
	c := sdksession.NewScan(s)
	var folders []string
	for _, p := range d.parts {
		folders = append(folders, p.name)
		for k := range sdkdoc.Kind(sdkdoc.Kinds) {
			if err := d.searchFile(ctx, c, p, k); err != nil || s.Done() {
				return err
			}
		}
	}
	if err := d.FindTranscripts(ctx, folders...); err != nil {
		return err
	}
	if err := c.Transcripts(d.Root, d.Transcripts); err != nil {
		return err
	}
	c.End(d.Index.Agents())
	return nil
}

// searchFile searches the file of a part.
func (d *decoder) searchFile(ctx context.Context, c *sdksession.Scan, p *part, k sdkdoc.Kind) error {
	f, err := d.file(p.file(k))
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	var parser sdkdoc.Parser
	var data []byte
	for l, err := range lines.Each(ctx, f, sdkdoc.MaxLine) {
		if err != nil || c.Done() {
			return err
		}
		if k == sdkdoc.Event {
			c.Line(l.Bytes)
			continue
		}
		b, _, err := rawjson.Line(l.Bytes)
		if err != nil {
			continue // Decode cannot read it either
		}
		agent := rawjson.TextAt(b, "agentId")
		d.Index.Know(agent)
		switch k {
		case sdkdoc.Run:
			c.Run(rawjson.TextAt(b, "runId"), agent)
		case sdkdoc.Checkpoint:
			data, _ = parser.Data(data[:0], sdkdoc.BlobMember(b))
			b = data
		}
		c.Take(agent, b)
	}
	return nil
}
