package write

// contextSize estimates what the client sends to the model when it continues the
// session: the bytes of the blocks of the live branch, from the last compaction on.
// The names around the blocks are not counted, and neither are the client's own
// prompt and tools.
type contextSize struct{ bytes int64 }

const (
	// imageBytes is what an image counts for. The model pays for its pixels, not for
	// the bytes of its file: about 1,600 tokens for one that fills its view.
	imageBytes = 1600 * bytesPerToken

	// bytesPerToken is the usual average of prose and code in English. Text in other
	// languages has more tokens than that, up to twice as many.
	bytesPerToken = 4
)

// send counts bytes that are sent to the model. Lines of branches are not.
func (e *encoder) send(bytes int) {
	if e.branch == "" {
		e.context.bytes += int64(bytes)
	}
}

// sendImage corrects the count for an image whose block send counts, too.
func (e *encoder) sendImage(encoded int) { e.send(imageBytes - encoded) }

func (c *contextSize) tokens() int64 { return max(0, c.bytes) / bytesPerToken }
