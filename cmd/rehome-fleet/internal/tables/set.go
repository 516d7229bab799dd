package tables

import "errors"

// Names returns the names of the tables.
func Names() []string {
	return []string{"sessions", "turns", "messages", "tool_calls", "tool_results", "losses"}
}

// create creates the files.
func (w *writer) create() error {
	var errs [6]error
	codec := newCodec()
	w.sessions, errs[0] = create[Session](w.tables, "sessions", codec, w.opts.NoText)
	w.turns, errs[1] = create[Turn](w.tables, "turns", codec, w.opts.NoText)
	w.messages, errs[2] = create[Message](w.tables, "messages", codec, w.opts.NoText)
	w.calls, errs[3] = create[ToolCall](w.tables, "tool_calls", codec, w.opts.NoText)
	w.results, errs[4] = create[ToolResult](w.tables, "tool_results", codec, w.opts.NoText)
	w.losses, errs[5] = create[Loss](w.tables, "losses", codec, w.opts.NoText)
	return errors.Join(errs[:]...)
}

// finish completes the files.
func (w *writer) finish(rep *Report) error {
	for _, finish := range []func() (TableReport, error){
		w.sessions.finish, w.turns.finish, w.messages.finish, w.calls.finish, w.results.finish, w.losses.finish,
	} {
		t, err := finish()
		if err != nil {
			return err
		}
		rep.Tables = append(rep.Tables, t)
	}
	return nil
}

// abandon closes the files.
func (w *writer) abandon() {
	w.sessions.abandon()
	w.turns.abandon()
	w.messages.abandon()
	w.calls.abandon()
	w.results.abandon()
	w.losses.abandon()
}
