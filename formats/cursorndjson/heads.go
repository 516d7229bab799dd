package cursorndjson

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/session"
	"rehome/formats/store"
)

// headLine is the longest line that is read for the sake of a list.
const headLine = 16 << 20

// heads lists the agents in the order of their lines. Their turns are the runs
// that ever began; what was said in them is not looked at.
func heads(ctx context.Context, l *formats.Location, _ formats.View) iter.Seq2[*session.Head, error] {
	return func(yield func(*session.Head, error) bool) {
		root, err := os.OpenRoot(l.Path)
		if err != nil {
			yield(nil, &formats.Error{Format: name, At: l.Path, Err: err})
			return
		}
		defer root.Close()
		turns, whole := map[string]int64{}, true
		for line, err := range headLines(ctx, root, l.Path, sdkdoc.Run) {
			if err != nil && !errors.Is(err, bufio.ErrTooLong) {
				whole = false // the agents are still worth listing
				break
			}
			whole = whole && err == nil
			if id := rawjson.Text(rawjson.Last(line, "agentId")); rawjson.Text(rawjson.Last(line, "status")) != "queued" {
				turns[id]++
			}
		}
		for line, err := range headLines(ctx, root, l.Path, sdkdoc.Agent) {
			if err != nil {
				if !yield(nil, err) {
					return
				}
				continue
			}
			h := agentHead(line)
			if h.Turns = turns[h.ID]; !whole {
				h.Turns = -1
			}
			if h.ID != "" && !yield(h, nil) {
				return
			}
		}
	}
}

func agentHead(line []byte) *session.Head {
	h := &session.Head{Agent: session.CursorSDK, Bytes: -1}
	for n, value := range rawjson.Members(line) {
		switch string(n) {
		case "agentId":
			h.ID = rawjson.Text(value)
		case "cwd":
			h.Workspace = rawjson.Text(value)
		case "name":
			h.Title = rawjson.Text(value)
		case "createdAt":
			h.Created = headStamp(value)
		case "updatedAt":
			h.Updated = headStamp(value)
		}
	}
	return h
}

// headStamp is a number of milliseconds, with a fraction where the caller made it.
func headStamp(value []byte) session.Stamp {
	ms, err := strconv.ParseFloat(string(value), 64)
	if err != nil || ms < -8.64e15 || ms > 8.64e15 {
		return session.Stamp{}
	}
	return session.Stored(int64(ms))
}

// headLines yields the objects of a file line by line; a line is valid until
// the next. A line that is no object is yielded as an error, unless it is the
// last one: the client passes by what a crash has cut short. A file that is not
// there has no lines.
func headLines(ctx context.Context, root *os.Root, at string, k sdkdoc.Kind) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		info, err := root.Stat(k.File())
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("not a regular file")
		}
		fail := func(line int, err error) bool {
			where := strings.TrimSuffix(at, "/") + "/" + (store.Addr{File: k.File(), Line: line}).String()
			return yield(nil, &formats.Error{Format: name, At: where, Err: err})
		}
		var f *os.File
		if err == nil {
			f, err = root.Open(k.File())
		}
		if err != nil {
			fail(0, err)
			return
		}
		defer f.Close()
		last := 0
		for l, err := range lines.Each(ctx, f, headLine) {
			object, more := bytes.TrimSpace(l.Bytes), true
			switch {
			case err != nil:
				fail(last+1, err)
				return
			case l.Long:
				more = fail(l.Number, bufio.ErrTooLong)
			case len(object) == 0:
			case object[0] == '{' && json.Valid(object):
				more = yield(object, nil)
			case l.Ended:
				more = fail(l.Number, errors.New("not a JSON object"))
			}
			if last = l.Number; !more {
				return
			}
		}
	}
}
