package convert

import (
	"context"
	"slices"

	"rehome/formats"
	"rehome/formats/session"
)

// standing says what the client has of a session, by what was said in it: neither the
// folder nor the title that a file names since makes it another session. What cannot be
// read was not written here.
func (m *migration) standing(ctx context.Context, p fileMove, at place) (formats.Standing, error) {
	if m.to.Sessions == nil {
		return formats.Continued, nil
	}
	has, err := saidIn(ctx, at)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return formats.Continued, nil
	}
	gets, err := saidIn(ctx, place{format: m.to, path: p.Staged})
	switch {
	case err != nil:
		return "", err
	case slices.Equal(has, gets):
		return formats.Same, nil
	case len(has) == 0:
		return formats.Foreign, nil
	}
	for _, said := range gets {
		if len(has) > 0 && has[0] == said {
			has = has[1:]
		}
	}
	if len(has) > 0 {
		return formats.Continued, nil
	}
	return formats.Older, nil
}

// saidIn returns what is said in a session that was written here, in order: prompts,
// answers and calls.
func saidIn(ctx context.Context, at place) (out []string, err error) {
	loc, err := formats.Locate(at.path)
	if err != nil {
		return nil, err
	}
	v := formats.FullView(1)
	for s, err := range at.format.Sessions.Decode(ctx, loc, v, session.Selection{IDs: at.ids, Sorted: true, Inner: true}) {
		if err != nil {
			return nil, err
		}
		err := session.Each(ctx, s.Messages, func(msg *session.Message) error {
			if msg.Turn != nil && msg.Role == session.User {
				out = append(out, "prompt "+promptOf(msg).sum)
			}
			said, _ := items(msg)
			for _, part := range msg.Parts {
				if call, ok := part.(*session.ToolCall); ok {
					said = append(said, "call "+call.ID)
				}
			}
			out = append(out, said...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
