package cursorchat

import (
	"iter"

	"rehome/formats/session"
)

// drain walks the streams of a session that its reader left. A message that
// nobody looked at is read all the same: what is missing in it is to be told.
type drain struct {
	messages iter.Seq2[*session.Message, error]
	files    iter.Seq2[*session.File, error]
	err      error
}

func (d *drain) takeMessages(yield func(*session.Message, error) bool) {
	take(&d.messages, &d.err, yield)
}

func (d *drain) takeFiles(yield func(*session.File, error) bool) {
	take(&d.files, &d.err, yield)
}

// take gives a stream to a reader. Where the reader stops early the rest is
// walked without it.
func take[T any](stream *iter.Seq2[T, error], failed *error, yield func(T, error) bool) {
	all := *stream
	*stream = nil
	if all == nil {
		return
	}
	wanted := true
	for v, err := range all {
		if err != nil {
			*failed = err
		}
		if wanted {
			wanted = yield(v, err)
		}
	}
}

// run walks what nobody asked for.
func (d *drain) run() error {
	d.takeMessages(func(*session.Message, error) bool { return true })
	d.takeFiles(func(*session.File, error) bool { return true })
	return d.err
}
