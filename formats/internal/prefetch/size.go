package prefetch

import "rehome/formats/session"

// messageSize returns about how much memory a message takes.
func messageSize(m *session.Message) int { return 512 + partsSize(m.Parts) + extrasSize(m.Extras) }

func partsSize(list []session.Part) (n int) {
	for _, p := range list {
		n += 256
		switch p := p.(type) {
		case *session.Text:
			n += len(p.Text) + extrasSize(p.Extras)
		case *session.Injected:
			n += len(p.Text) + len(p.Data) + extrasSize(p.Extras)
		case *session.Thinking:
			n += len(p.Text) + len(p.Signature) + len(p.Data) + extrasSize(p.Extras)
		case *session.ToolCall:
			n += len(p.Input) + len(p.Args) + extrasSize(p.Extras)
		case *session.ToolResult:
			n += partsSize(p.Content) + len(p.Value) + extrasSize(p.Extras)
		case *session.Media:
			n += len(p.Data) + extrasSize(p.Extras)
		case *session.Summary:
			n += len(p.Text) + extrasSize(p.Extras)
		case *session.Opaque:
			n += len(p.Raw)
		}
	}
	return n
}

func extrasSize(list []session.Extra) (n int) {
	for i := range list {
		n += 32 + len(list[i].Raw)
	}
	return n
}

// fileSize returns about how much memory a file takes.
func fileSize(f *session.File) int {
	n := 512 + extrasSize(f.Extras)
	for _, b := range [...]*session.Body{f.Before, f.After} {
		if b != nil {
			n += len(b.Bytes)
		}
	}
	return n
}
