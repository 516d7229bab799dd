package sdksession

import (
	"context"
	"io"
	"iter"
	"os"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

const eventKind = sdkdoc.Event

// Store is all that a codec knows of its store.
type Store struct {
	Index *Index
	Lines Lines
	Names Names
	Cwd   string // where set, the workspace of all agents
	Note  loss.Sink

	// Account counts the records that belong to no agent.
	Account session.Account
	// Fail adds the place to the error of a file of the store.
	Fail func(path string, err error) error

	// Checkpoints opens the checkpoints of an agent, nil if there are none.
	Checkpoints func(ctx context.Context, agent string) (*Checkpoints, error)
	// CheckpointAgents are the agents that have checkpoints.
	CheckpointAgents []string

	// Transcripts lie below Root, but for those for which Outer has another
	// folder, by path.
	Transcripts []transcript.File
	Root        *os.Root
	Outer       map[string]string

	// Read reads a state, and Open opens a transcript; nil are agentstate.Read
	// and the files. Tests put others there.
	Read func(ctx context.Context, o agentstate.Options) (Graph, error)
	Open func(f transcript.File) (*io.SectionReader, func() error, error)

	folder map[string][]transcript.File // by name
	kids   map[string][]transcript.File // those of subagents, by their parent's
	wanted map[string]bool              // ids that were asked for; nil: all
	ev     event
}

// Names are what the sources are called in this kind of store.
type Names struct {
	Catalog, Runs, Events, State string
	One                          bool // the first three are one file
}

// Checkpoints are those of one agent.
type Checkpoints struct {
	Blobs   agentstate.Blobs
	All     iter.Seq2[agentstate.ID, error] // in the order in which they were made
	At      func(id agentstate.ID) store.Addr
	Count   int64           // blobs with an id of their own
	Account session.Account // of all else that lies there, and of what has no such id
	Root    agentstate.ID   // the current state, where the checkpoints themselves name one
	Named   bool            // it does
	Extra   []session.Extra
	Head    session.Head // title and time, for an agent without a record
	Close   func() error
}

// Graph is a conversation as checkpoints hold it: an agentstate.State.
type Graph interface {
	Broken() string
	Fill(dst *session.Session)
	Turns() []agentstate.Turn
	Before(turn int) (message string)
	Messages(ctx context.Context) iter.Seq2[*session.Message, error]
	Children() []*agentstate.Child
	Reached() int64
	Opaque() int64
	Unreadable() int64
	Members() (members, taken, extras int64)
}

// event reads an event. It is valid until the next one is read; nil if there
// is none to be read.
func (s *Store) event(ctx context.Context, e entry) (*event, error) {
	line, err := s.Lines.Line(ctx, eventKind, e.Place)
	if err != nil {
		return nil, err
	}
	if !s.ev.parse(line) {
		return nil, nil
	}
	return &s.ev, nil
}

func (s *Store) read(ctx context.Context, o agentstate.Options) (Graph, error) {
	if s.Read != nil {
		return s.Read(ctx, o)
	}
	return agentstate.Read(ctx, o)
}

const runKind = sdkdoc.Run

// address is where a run's record lies, or its first event.
func (s *Store) address(r *run) store.Addr {
	switch {
	case r.known:
		return s.Lines.At(sdkdoc.Run, r.place)
	case len(r.events) > 0:
		return s.Lines.At(eventKind, r.events[0].Place)
	}
	return store.Addr{}
}
