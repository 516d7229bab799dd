package cursorchat

import (
	"context"
	"path/filepath"
	"strconv"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/storerepair"
)

// repair repairs the database of a chat.
func repair(ctx context.Context, l *formats.Location, r *formats.Repair) error {
	for _, findings := range r.ByFile() {
		path := l.File(findings[0].At)
		if filepath.Base(findings[0].At.File) == besideName {
			continue
		}
		dir := filepath.Dir(path)
		who := storerepair.Agent{ID: filepath.Base(dir)}
		if !filename.IsUUID(who.ID) {
			who.ID = filename.NamedUUID("rehome repair", filepath.Base(dir))
		}
		beside := readBeside(filepath.Join(dir, besideName))
		who.Title = rawjson.Text(rawjson.Last(beside, "title"))
		who.Created, _ = strconv.ParseInt(string(rawjson.Last(beside, "createdAtMs")), 10, 64)
		if err := storerepair.File(ctx, path, findings, r, who); err != nil {
			return err
		}
	}
	return nil
}
