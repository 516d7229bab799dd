package session

import (
	"context"
	"errors"
	"testing"
)

// TestEach stops at errors of the stream, of the context and of the function.
func TestEach(t *testing.T) {
	broken := errors.New("broken")
	stream := func(yield func(*Message, error) bool) {
		_ = yield(&Message{ID: "1"}, nil) && yield(&Message{ID: "2"}, nil) && yield(nil, broken)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx  context.Context
		at   string
		seen string
		err  error
	}{
		{t.Context(), "", "12", broken}, {t.Context(), "2", "12", errStop}, {t.Context(), "1", "1", errStop}, {ended, "", "", context.Canceled},
	} {
		seen := ""
		err := Each(c.ctx, stream, func(m *Message) error {
			if seen += m.ID; m.ID == c.at {
				return errStop
			}
			return nil
		})
		if !errors.Is(err, c.err) || seen != c.seen {
			t.Errorf("%q, %v; want %q, %v", seen, err, c.seen, c.err)
		}
	}
	if err := Each(t.Context(), nil, func(*Message) error { return errStop }); err != nil {
		t.Error(err)
	}
}

var errStop = errors.New("stop")
