package cursorndjson

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// divider builds the split form: it deals the lines out to a folder for each agent.
type divider struct {
	root    *os.Root
	build   formats.Build
	byAgent map[string]*agentFolder
	byRun   map[string]*agentFolder
	hashes  map[string]*agentFolder
	order   []*agentFolder
	nobody  *agentFolder   // of what belongs to no agent, once there is such
	set     int            // being written
	at      stamp          // of the last line
	in      *agentFolder   // that line's
	held    int            // bytes in the buffers of all folders
	agents  sdkstore.Spool // their lines, which get a summary of the runs that come after them
	spans   [sdkdoc.Kinds][]span
	file    *os.File // a transcript
}

// agentFolder is what a divider knows of an agent.
type agentFolder struct {
	part
	agent  string
	made   bool  // the folder is there
	stamp  stamp // of its last line of this kind
	lines  [sdkdoc.Kinds]int
	buffer []byte
	own    []agentLine
	turns  int
	turn   int64  // number of the last turn
	last   string // how it ended
}

// agentLine is a line of agents in the spool.
type agentLine struct {
	at    int64
	size  int
	ended bool
}

// span is some joined lines that follow one another in one folder.
type span struct {
	first int // line
	in    *agentFolder
	local int // number of that line in the folder
}

// dividerBuffer is how many bytes wait in memory to be written.
const dividerBuffer = 4 << 20

func newDivider(root *os.Root, b formats.Build) *divider {
	return &divider{root: root, build: b, byAgent: map[string]*agentFolder{}, byRun: map[string]*agentFolder{}}
}

// Put deals lines out, or writes a piece of a transcript.
func (d *divider) Put(ctx context.Context, b *store.Batch) error {
	defer b.Release()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.reach(b.Set); err != nil {
		return err
	}
	for i := range b.Rows() {
		c := b.Cell(i, 0)
		if d.file != nil {
			if _, err := d.file.Write(c.Bytes()); err != nil {
				return err
			}
		} else if err := d.line(sdkdoc.Kind(b.Set), int(b.RowID(i)), c); err != nil {
			return err
		}
	}
	return nil
}

// reach moves on to a set.
func (d *divider) reach(set int) error {
	for d.set < set {
		if err := d.end(); err != nil {
			return err
		}
		d.set, d.at, d.in = d.set+1, stamp{}, nil
		for _, f := range d.order {
			f.stamp = stamp{}
		}
		if d.set >= sdkdoc.Kinds {
			if err := d.transcript(d.build.Schema.Sets[d.set].File); err != nil {
				return err
			}
		}
	}
	return nil
}

// end completes a set.
func (d *divider) end() error {
	if d.file != nil {
		err := d.file.Close()
		d.file = nil
		return err
	}
	return d.flush()
}

// line gives a line to its folder, and tells where it stood if its time does not.
func (d *divider) line(k sdkdoc.Kind, n int, c store.Cell) error {
	m := claimsOf(k, c.Bytes())
	f := d.owner(k, &m)
	f.lines[k]++
	if s := d.spans[k]; d.in != f || len(s) == 0 {
		d.spans[k] = append(s, span{n, f, f.lines[k]})
	}
	to := f.natural(k, &m)
	if f.stamp.compare(to) > 0 {
		to = f.stamp
	}
	if d.in != nil && comparePlaces(to, f.name, d.at, d.in.name) < 0 {
		if to = d.at; comparePlaces(to, f.name, d.at, d.in.name) < 0 {
			to.tie++
		}
		d.keep(store.SidecarItem{Part: f.name, At: store.Addr{File: k.File(), Set: placeSet, Line: f.lines[k]},
			Row: []store.Cell{store.IntCell(to.ms), store.IntCell(to.tie)}, Digest: lineDigest(c.Class, c.Bytes())})
	}
	d.at, d.in, f.stamp = to, f, to
	if k == sdkdoc.Agent {
		if f.lines[k] == 1 && f.name != unowned {
			f.first = to
		}
		at, err := d.agents.Add(c.Bytes())
		f.own = append(f.own, agentLine{at, len(c.Bytes()), c.Class == store.Text})
		return err
	}
	if k == sdkdoc.Run {
		f.count(&m)
	}
	if c.Class == store.Blob && len(c.Bytes()) == 0 {
		return d.write(f, k.File(), nil) // the record of an empty file
	}
	f.buffer = append(f.buffer, c.Bytes()...)
	if c.Class == store.Text {
		f.buffer = append(f.buffer, '\n')
	}
	if d.held += len(c.Bytes()) + 1; d.held > dividerBuffer {
		return d.flush()
	}
	return nil
}

func (d *divider) keep(it store.SidecarItem) {
	if d.build.OnSidecar != nil {
		d.build.OnSidecar(it)
	}
}

// owner returns the folder of a line: that of its agent if it has a line of agents.
func (d *divider) owner(k sdkdoc.Kind, m *claims) *agentFolder {
	var f *agentFolder
	switch id := rawjson.Text(m.agent); {
	case k == sdkdoc.Event:
		f = d.byRun[rawjson.Text(m.run)]
	case k == sdkdoc.Agent && id != "" && d.byAgent[id] == nil:
		f = d.open(folderOf(id))
		f.agent = id
		d.byAgent[id] = f
	case id != "":
		f = d.byAgent[id]
	}
	if f == nil {
		if d.nobody == nil {
			d.nobody = d.open(unowned)
		}
		f = d.nobody
	}
	if run := rawjson.Text(m.run); k == sdkdoc.Run && d.byRun[run] == nil {
		d.byRun[run] = f
	}
	return f
}

func (d *divider) open(name string) *agentFolder {
	f := &agentFolder{part: part{name: name, first: never()}, turn: -1}
	d.order = append(d.order, f)
	return f
}

// count notes a run for the summary of its agent. The SDK counts those that began.
func (f *agentFolder) count(m *claims) {
	if rawjson.Text(m.status) != sdkdoc.Queued {
		f.turns++
	}
	if turn, _ := sdkdoc.Whole(m.turn); turn >= f.turn {
		f.turn, f.last = turn, rawjson.Text(m.last)
	}
}

// flush writes what waits. Files are closed again: there may be more agents than files
// that can be open at once.
func (d *divider) flush() error {
	for _, f := range d.order {
		if len(f.buffer) == 0 {
			continue
		}
		if err := d.write(f, sdkdoc.Kind(d.set).File(), f.buffer); err != nil {
			return err
		}
		if f.buffer = f.buffer[:0]; cap(f.buffer) > dividerBuffer/8 {
			f.buffer = nil
		}
	}
	d.held = 0
	return nil
}

func (d *divider) write(f *agentFolder, file string, b []byte) error {
	if !f.made {
		if err := d.root.MkdirAll(f.name, 0o777); err != nil {
			return err
		}
		f.made = true
	}
	out, err := d.root.OpenFile(path.Join(f.name, file), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = out.Write(b)
	return errors.Join(err, out.Close())
}

// transcript begins a transcript, in the folder of the agent that its path names.
func (d *divider) transcript(file string) (err error) {
	var f *agentFolder
	for name := range strings.SplitSeq(strings.TrimSuffix(file, path.Ext(file)), "/") {
		if f == nil {
			f = d.byAgent[name]
		}
	}
	if f == nil {
		f = &agentFolder{part: part{name: unowned}}
	}
	at := path.Join(f.name, file)
	if err = d.root.MkdirAll(path.Dir(at), 0o777); err == nil {
		d.file, err = d.root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	return err
}

// Finish writes the agents with their summaries, and what makes the folders one store.
func (d *divider) Finish(ctx context.Context) error {
	if err := d.reach(len(d.build.Schema.Sets) - 1); err != nil {
		return err
	}
	if err := d.end(); err != nil {
		return err
	}
	var line []byte
	for _, f := range d.order {
		for _, l := range f.own {
			b, err := d.agents.Read(l.at, l.size)
			if err != nil {
				return err
			}
			if line = sdkdoc.AppendSummary(line[:0], b, f.turns, f.last); l.ended {
				line = append(line, '\n')
			}
			if err := d.write(f, sdkdoc.Agent.File(), line); err != nil {
				return err
			}
		}
	}
	for file, text := range map[string]string{marker: markerText, ".gitattributes": attributes} {
		if err := d.root.WriteFile(file, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Close lets go of everything, finished or not.
func (d *divider) Close() error {
	if d.root == nil {
		return nil
	}
	var err error
	if d.file != nil {
		err = d.file.Close()
	}
	err = errors.Join(err, d.agents.Close(), d.root.Close())
	d.root, d.file = nil, nil
	return err
}

// Part returns an item of the sidecar as it is in the folder that it belongs to:
// formats.Parted.
func (d *divider) Part(it store.SidecarItem) store.SidecarItem {
	if it.Part == "" {
		if it = d.part(it); it.Part != "" || d.build.Moved {
			it.At.File = sdkstore.Rootless(it.At.File)
		}
	}
	return it
}

func (d *divider) part(it store.SidecarItem) store.SidecarItem {
	if k, line := kindOfItem(&it); line {
		if f, local := d.find(k, it.At.Line); f != nil {
			it.Part, it.At.Line = f.name, local
		}
		return it
	}
	f := d.byAgent[string(it.At.Key.Bytes())]
	if path.Base(it.At.File) == sdkstore.StoreName && f == nil {
		f = d.byHash()[strings.TrimPrefix(path.Base(path.Dir(it.At.File)), "agent-")]
	}
	if f != nil {
		it.Part = f.name
	}
	return it
}

// byHash returns the folders by what the SDK names those of its databases.
func (d *divider) byHash() map[string]*agentFolder {
	if d.hashes == nil {
		d.hashes = map[string]*agentFolder{}
		for id, f := range d.byAgent {
			d.hashes[sdkstore.HashOf(id)] = f
		}
	}
	return d.hashes
}

// find returns the folder of a joined line, and its number there.
func (d *divider) find(k sdkdoc.Kind, line int) (*agentFolder, int) {
	spans := d.spans[k]
	i, exact := slices.BinarySearchFunc(spans, line, func(s span, line int) int { return cmp.Compare(s.first, line) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil, 0
	}
	return spans[i].in, spans[i].local + line - spans[i].first
}
