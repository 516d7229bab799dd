package cursorchat

import (
	"iter"

	"rehome/formats/session"
)

// drain reads the streams of a session that its consumer did not. What is missing in a
// message is reported even if nobody reads it.
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

// take yields a stream to the consumer. If the consumer stops early, the rest is read
// without it.
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

// run reads the streams that were not requested.
func (d *drain) run() error {
	d.takeMessages(func(*session.Message, error) bool { return true })
	d.takeFiles(func(*session.File, error) bool { return true })
	return d.err
}
