package fleet

import (
	"math"
	"slices"

	"rehome/cmd/rehome-fleet/internal/catalog"
)

// verb is what happens to a store: a command of this program, in a process of its own.
type verb struct {
	name   string
	output string // what it writes; "": only its result
	args   func(from, to string, s Store, unit *Unit) []string
	rate   float64 // measured bytes per core-second
	ide    float64 // the same for databases of the IDE
	grows  float64 // the size of the output by that of the store, at most as measured
}

// perStore are the core-seconds that a process takes for the smallest store.
const perStore = 0.03

func allVerbs() []verb {
	const mb = 1e6
	canonical := func(more ...string) func(string, string, Store, *Unit) []string {
		return func(from, to string, _ Store, _ *Unit) []string {
			return slices.Concat([]string{"convert", from, to, "--to", "canonical", "--jobs", "1"}, more)
		}
	}
	return []verb{
		{"check", "", func(from, _ string, _ Store, _ *Unit) []string {
			return []string{"check", from, "--no-ignore", "--require", "--jobs", "1"}
		}, 230 * mb, 110 * mb, 0},
		{"archive", "archive", func(from, to string, _ Store, _ *Unit) []string {
			return []string{"convert", from, to, "--to", "archive", "--compress", "zstd", "--jobs", "1"}
		}, 235 * mb, 235 * mb, 1},
		{"canonical", "canonical.jsonl", canonical(), 73 * mb, 73 * mb, 2},
		{"redacted", "canonical.jsonl", canonical("--redact", "--redact-paths"), 60 * mb, 60 * mb, 2},
		{"parquet", "parquet", func(from, to string, _ Store, u *Unit) []string {
			return []string{"parquet", from, to, "--machine=" + u.Machine, "--unit=" + u.ID}
		}, 58 * mb, 58 * mb, 2},
		// Not measured: what parquet and check take, one after the other.
		{"catalog", catalog.FileName, func(from, to string, _ Store, _ *Unit) []string {
			return []string{"catalog", from, to, "--jobs", "1"}
		}, 46 * mb, 38 * mb, 2},
	}
}

func verbNamed(name string) *verb {
	for _, v := range allVerbs() {
		if v.name == name {
			return &v
		}
	}
	return nil
}

// seconds predicts the core-seconds for a store.
func (v *verb) seconds(s Store) float64 {
	rate := v.rate
	if s.Kind == "cursor-ide" {
		rate = v.ide
	}
	return perStore + float64(s.Bytes)/rate
}

// slack is scratch space for what does not grow with a store.
const slack = 64 << 20

// scratch predicts the scratch space for a store: the store, the copy that reading a
// database in use takes, and the output.
func (v *verb) scratch(s Store) int64 {
	return slack + 2*s.Bytes + int64(v.grows*float64(s.Bytes))
}

func round(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }
