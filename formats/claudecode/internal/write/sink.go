package write

import (
	"cmp"
	"context"
	"hash/maphash"
	"os"

	"rehome/formats"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/object"
	"rehome/formats/session"
)

// companionEnding is the extension of the file next to that of a subagent.
const companionEnding = ".meta.json"

// sink writes each session to a file, and that of a subagent to two. It knows the
// tool calls of the sessions so far, eight bytes each: the second file names the
// call that started the subagent, and a client that cannot find that call ignores
// the subagent.
type sink struct {
	seed     maphash.Seed
	sessions map[string]bool
	calls    map[uint64]struct{}
}

// New returns a sink for the sessions of one store.
func New() formats.Sink {
	return &sink{seed: maphash.MakeSeed(), sessions: map[string]bool{}, calls: map[uint64]struct{}{}}
}

// Put writes a session.
func (k *sink) Put(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	k.sessions[s.ID] = true
	if b.Continues != nil && s.Parent == nil {
		d := &formats.Draft{Verify: func(context.Context) error { return nil }} // whoever continues it reads all of it again
		return d, k.extend(ctx, s, b, d)
	}
	d := &formats.Draft{Verify: func(ctx context.Context) error { return Verify(ctx, b.Path) }}
	err := k.encode(ctx, s, b, d)
	if err == nil && s.Parent != nil {
		d.Companion = companionEnding
		err = os.WriteFile(b.Path+companionEnding, k.companion(&s.Head), 0o600)
	}
	return d, err
}

func (k *sink) sum(of, call string) uint64 {
	return maphash.Comparable(k.seed, [2]string{of, call})
}

// record records the calls of a message.
func (k *sink) record(of string, m *session.Message) {
	for _, p := range m.Parts {
		if call, ok := p.(*session.ToolCall); ok {
			k.calls[k.sum(of, call.ID)] = struct{}{}
		}
	}
}

// companion returns the second file of a subagent: its kind, its task and the call
// that started it, unless its parent is known and does not hold that call.
func (k *sink) companion(h *session.Head) []byte {
	up := h.Parent
	p := object.New(nil)
	p.Text("agentType", agentType(up.Kind))
	p.NonEmpty("description", envelope.FirstLine(cmp.Or(up.Title, h.Title)))
	_, found := k.calls[k.sum(up.Session, up.Call)]
	if up.Call != "" && (found || !k.sessions[up.Session]) {
		p.Text("toolUseId", knownID(up.Call))
	}
	return p.Done()
}
