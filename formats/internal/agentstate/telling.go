package agentstate

import (
	"context"
	"slices"
	"strings"

	"rehome/formats/session"
)

// tellings are the forms of turns in several states. While a turn grows step by step, it is
// stored again and again; but an answer can also be asked for anew.
type tellings struct {
	keys  map[ID]ID        // by turn, what identifies it
	of    map[ID][]telling // by prompt and request
	grown map[ID]bool      // turns of which another form says all, and their steps
}

// maxForms is with how many answers to one prompt another one is compared. One that says what a
// later one says, too, counts as an answer of its own.
const maxForms = 8

// telling is one form of a turn: what identifies it, and its steps.
type telling struct {
	key   ID
	steps []ID
}

// key returns what identifies a turn: the blob of its user message, combined with the id of
// its request. A form that says something else than those before has a key of its own.
func (k *tellings) key(ctx context.Context, s *State, id ID) (ID, error) {
	if key, ok := k.keys[id]; ok {
		return key, nil
	}
	b, err := s.ledger.blobs.Blob(ctx, id)
	if b == nil || err != nil {
		return id, err
	}
	var t turnLine
	quiet := State{ledger: &ledger{}, reused: s.reused}
	steps := slices.Clone(quiet.parseTurn(&t, b, nil))
	base := t.user
	for i := range min(len(t.request), len(base)) {
		base[i] ^= t.request[i]
	}
	key := base
	if t.user == (ID{}) {
		key = id
	}
	for _, other := range k.of[base] {
		same, err := s.continues(ctx, steps, other.steps)
		if err != nil {
			return id, err
		}
		if same {
			k.keys[id] = other.key
			if k.grown == nil {
				k.grown = map[ID]bool{}
			}
			for _, step := range append(steps, id) {
				k.grown[step] = true
			}
			return other.key, nil
		}
	}
	if len(k.of[base]) > 0 {
		key = id
	}
	if len(k.of[base]) < maxForms {
		k.of[base] = append(k.of[base], telling{key, steps})
	}
	k.keys[id] = key
	return key, nil
}

// continues reports whether a list of steps begins with what another one says.
func (s *State) continues(ctx context.Context, from, to []ID) (bool, error) {
	if len(from) > len(to) {
		return false, nil
	}
	for i, id := range from {
		if id == to[i] {
			continue
		}
		was, err := s.stepTexts(ctx, id)
		if err != nil {
			return false, err
		}
		is, err := s.stepTexts(ctx, to[i])
		if err != nil {
			return false, err
		}
		for _, text := range was {
			if !slices.ContainsFunc(is, func(longer string) bool { return strings.HasPrefix(longer, text) }) {
				return false, nil
			}
		}
	}
	return true, nil
}

// stepTexts returns the texts in a step.
func (s *State) stepTexts(ctx context.Context, id ID) ([]string, error) {
	b, err := s.ledger.blobs.Blob(ctx, id)
	if b == nil || err != nil {
		return nil, err
	}
	quiet := State{ledger: &ledger{}}
	return slices.Collect(session.Strings(quiet.spell(codecs().step.Message, b))), nil
}
