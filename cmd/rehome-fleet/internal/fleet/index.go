package fleet

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rehome/formats"
)

// engines are the variables by which schedulers tell a task which one it is, and of how
// many. All but Slurm's count from 0; Slurm's begin with the first index of the array.
func engines() [][4]string {
	return [][4]string{ // name, index, first index, count
		{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"},
		{"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "", "AWS_BATCH_JOB_ARRAY_SIZE"},
		{"Cloud Run", "CLOUD_RUN_TASK_INDEX", "", "CLOUD_RUN_TASK_COUNT"},
		{"Kubernetes", "JOB_COMPLETION_INDEX", "", ""},
	}
}

// maxShards bounds N.
const maxShards = 1 << 20

// parseShard reads I/N, auto/N or auto. I counts from 0.
func parseShard(text string, getenv func(string) string) (i, n int, err error) {
	fail := func(hint, format string, args ...any) (int, int, error) {
		return 0, 0, &formats.Error{At: "--shard", Err: fmt.Errorf(format, args...), Hint: hint}
	}
	number := func(text string) int {
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 || v > maxShards {
			return -1
		}
		return v
	}
	index, count, found := strings.Cut(text, "/")
	if found {
		if n = number(count); n < 1 {
			return fail("use I/N, such as 0/4", "invalid number of shards %q", count)
		}
	}
	if index != "auto" {
		switch i = number(index); {
		case !found || i < 0:
			return fail("use I/N, such as 0/4, or auto", "invalid shard %q", text)
		case i >= n:
			return fail(fmt.Sprintf("shards count from 0: the last one is %d/%d", n-1, n), "there is no shard %d of %d", i, n)
		}
		return i, n, nil
	}
	for _, e := range engines() {
		if getenv(e[1]) == "" {
			continue
		}
		i = number(getenv(e[1]))
		if e[2] != "" && getenv(e[2]) != "" {
			i -= max(0, number(getenv(e[2])))
		}
		told := 0
		if e[3] != "" && getenv(e[3]) != "" {
			told = number(getenv(e[3]))
		}
		switch {
		case told == 0 && n == 0:
			return fail("use --shard auto/N", "%s does not tell the number of tasks", e[0])
		case told != 0 && n != 0 && told != n:
			return fail("leave out /N", "%d shards, but %s runs %d tasks", n, e[0], told)
		}
		if n = max(n, told); i < 0 || i >= n {
			return fail("number the tasks of the array without gaps", "%s=%q is not one of %d tasks", e[1], getenv(e[1]), n)
		}
		return i, n, nil
	}
	return fail("use I/N, such as 0/4", "auto: %w", errors.New("no variable of Slurm, AWS Batch, Cloud Run or Kubernetes is set"))
}
