package cursorchat

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/internal/rawjson"
)

// mover copies chats to the folder that is named after the new path of their project. The
// client goes by that name, and shows the path in the file beside the database; the state
// in the database names earlier paths, which are part of the conversation.
func mover() *formats.Mover { return &formats.Mover{Find: findMoved, File: moveFile, InUse: inUse} }

func findMoved(_ context.Context, m formats.Machine, mv *formats.Moved) iter.Seq2[formats.Piece, error] {
	return func(yield func(formats.Piece, error) bool) {
		for _, root := range home(m) {
			list, err := os.ReadDir(root)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil && !yield(formats.Piece{}, err) {
				return
			}
			for _, e := range list {
				dir := filepath.Join(root, e.Name())
				if filepath.Base(root) == acpName {
					if cwd := statedCwd(dir); !movedACP(dir, cwd, mv, yield) {
						return
					}
					continue
				}
				if !movedChats(root, dir, mv, yield) {
					return
				}
			}
		}
	}
}

// movedACP says that the chat of an editor stays.
func movedACP(dir, cwd string, mv *formats.Moved, yield func(formats.Piece, error) bool) bool {
	if _, in := mv.Path(cwd); !in {
		return true
	}
	return yield(formats.Piece{ID: filepath.Base(dir), From: dir, Left: "a chat of an editor (ACP), which is not filed by its folder", Hint: "continue it in that editor"}, nil)
}

// movedChats yields the chats of a folder that is named after the one that was moved, or
// after one in it.
func movedChats(root, dir string, mv *formats.Moved, yield func(formats.Piece, error) bool) bool {
	hash := filepath.Base(dir)
	if !filename.IsHash(hash) {
		return true
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return yield(formats.Piece{}, err)
	}
	cwd := mv.Named(func(old string) bool { return filename.HashOf(old) == hash })
	for i := 0; i < len(list) && cwd == ""; i++ {
		if stated := statedCwd(filepath.Join(dir, list[i].Name())); filename.HashOf(stated) == hash {
			if to, in := mv.Path(stated); in {
				cwd = to
			}
		}
	}
	for _, e := range list {
		from := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(from, storeName)); cwd == "" || err != nil {
			continue
		}
		p := formats.Piece{ID: e.Name(), From: from, To: filepath.Join(root, filename.HashOf(cwd), e.Name()), Cwd: cwd, Root: root, Folder: true, Prompts: true}
		if !yield(p, nil) {
			return false
		}
	}
	return true
}

// statedCwd returns the path that the file beside a database states.
func statedCwd(dir string) string {
	return rawjson.TextAt(readBeside(filepath.Join(dir, besideName)), "cwd")
}

func inUse(path string) error {
	if filepath.Base(path) != storeName {
		return nil
	}
	return refuseOpen(path)
}

func moveFile(_ context.Context, from, to string, mv *formats.Moved) (done bool, err error) {
	switch base := filepath.Base(from); {
	case strings.HasSuffix(base, "-shm"):
		return true, nil // its clients share it while they run
	case base == storeName:
		return false, inUse(from)
	case base == besideName:
		if doc := readBeside(from); doc != nil {
			return true, os.WriteFile(to, withCwd(doc, mv), 0o600)
		}
	}
	return false, nil
}

// withCwd returns an object with the path that its project has now; all other bytes stay.
func withCwd(doc []byte, mv *formats.Moved) []byte {
	var found []rawjson.Member
	match := func(name []byte, depth int) string {
		if depth == 1 && string(name) == "cwd" {
			return "cwd"
		}
		return ""
	}
	if rawjson.Find(doc, match, func(m rawjson.Member) bool { found = append(found, m); return true }) != nil {
		return doc
	}
	for _, m := range slices.Backward(found) {
		if to, in := mv.Path(rawjson.Text(doc[m.From:m.To])); in {
			doc = slices.Replace(slices.Clone(doc), m.From, m.To, rawjson.Quote(nil, []byte(to))...)
		}
	}
	return doc
}
