package cursorchat

import (
	"context"
	"path/filepath"
	"strconv"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/storerepair"
	"rehome/internal/rawjson"
)

// repair repairs the database of a chat.
func repair(ctx context.Context, path string, r *formats.Repair) error {
	if filepath.Base(path) == besideName {
		return nil
	}
	dir := filepath.Dir(path)
	who := storerepair.Agent{ID: filepath.Base(dir)}
	if !formats.IsUUID(who.ID) {
		who.ID = filename.NamedUUID("rehome repair", filepath.Base(dir))
	}
	beside := readBeside(filepath.Join(dir, besideName))
	who.Title = rawjson.TextAt(beside, "title")
	who.Created, _ = strconv.ParseInt(string(rawjson.Last(beside, "createdAtMs")), 10, 64)
	return storerepair.File(ctx, path, r, who)
}
