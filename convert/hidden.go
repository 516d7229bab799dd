package convert

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/formats/store"
)

// sidecarHint is the hint of errors that a sidecar can cause which does not belong to its text.
const sidecarHint = "pass --sidecar none to restore only what the text says"

// refuseHidden returns an error if the sidecar makes a session of the restored store say
// something else than the text, which is what people review. It compares the results, so
// that it does not matter which item of the sidecar does it.
func (c *exactConversion) refuseHidden(ctx context.Context, from, to *formats.Format, schema *store.Schema) error {
	if to.Text || from.Sessions == nil || to.Sessions == nil || !c.sidecarAdds(from, schema) {
		return nil
	}
	l, err := formats.Locate(c.staged)
	if err != nil {
		return err
	}
	seed := maphash.MakeSeed()
	restored, err := readSpeech(ctx, to, l, seed)
	if err != nil {
		return err
	}
	text, err := readSpeech(ctx, from, c.source.Loc, seed)
	if err != nil {
		return err
	}
	if len(c.opts.Sessions) > 0 || c.filtered() {
		maps.DeleteFunc(text, func(id string, _ []uint64) bool { return restored[id] == nil })
	}
	if what := text.difference(restored); what != "" {
		err := fmt.Errorf("%s of the restored store is not what the text says", what)
		return &formats.Error{Format: from.Name, At: c.source.Loc.Path, Op: "sidecar", Err: err, Hint: sidecarHint}
	}
	return nil
}

// sidecarAdds reports whether the source is text whose sidecar has items of files that the
// text does not have, such as databases, with more than the places of secrets.
func (c *exactConversion) sidecarAdds(from *formats.Format, text *store.Schema) bool {
	return from.Text && slices.ContainsFunc(c.sidecar.ItemsOf(c.source.Rel), func(it store.SidecarItem) bool {
		return slices.ContainsFunc(it.Row, func(c store.Cell) bool { return c.Class != store.Withheld }) &&
			!slices.ContainsFunc(text.Sets, func(s store.Set) bool { return s.File == it.At.File })
	})
}

// speech has a sum of each message of each session, by the session's id.
type speech map[string][]uint64

func readSpeech(ctx context.Context, f *formats.Format, l *formats.Location, seed maphash.Seed) (speech, error) {
	out := speech{}
	var line []byte
	for s, err := range f.Sessions.Decode(ctx, l, formats.FullView(1), session.Selection{Inner: true, History: true}) {
		if s == nil {
			return out, err
		}
		if err != nil {
			out[s.ID] = append(out[s.ID], 0)
			continue
		}
		for m, err := range s.Messages {
			if err != nil {
				out[s.ID] = append(out[s.ID], 0)
				break
			}
			line = session.AppendMessage(line[:0], spoken(m))
			out[s.ID] = append(out[s.ID], maphash.Bytes(seed, line))
		}
	}
	return out, ctx.Err()
}

// spoken returns what people and models read of a message. What a client keeps beyond that
// may be in a database alone: cells that no line can express are in the sidecar.
func spoken(m *session.Message) *session.Message {
	out := &session.Message{Role: m.Role, Simulated: m.Simulated, Archived: m.Archived}
	if m.Turn != nil {
		out.Turn = &session.Turn{ID: m.Turn.ID}
	}
	for _, p := range m.Parts {
		if _, ok := p.(*session.Opaque); !ok {
			out.Parts = append(out.Parts, p)
		}
	}
	return out
}

// difference names the first message that differs, or returns "".
func (text speech) difference(restored speech) string {
	all := maps.Clone(text)
	maps.Copy(all, restored)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		want, got := text[id], restored[id]
		i := 0
		for i < min(len(want), len(got)) && want[i] == got[i] {
			i++
		}
		if i < max(len(want), len(got)) {
			return fmt.Sprintf("message %d of session %s", i+1, strconv.QuoteToASCII(id))
		}
	}
	return ""
}
