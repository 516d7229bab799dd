#!/bin/sh
#SBATCH --job-name=rehome-fleet
#SBATCH --array=0-15
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=3G
#SBATCH --requeue
#SBATCH --open-mode=append
#
# Does the shards of a plan as the tasks of a Slurm array, of any size:
#
#	rehome-fleet plan /shared/backups
#	sbatch --array=0-63 slurm.sh plan.ndjson /shared/results
#	rehome-fleet report plan.ndjson --out /shared/results
#
# Further arguments go to rehome-fleet do. A task whose node fails is queued again by Slurm; a
# task that could not read or write some of its units is, up to three times.
set -eu
plan=$1 out=$2
shift 2
status=0
rehome-fleet do "$plan" --shard auto --out "$out" --jobs "${SLURM_CPUS_PER_TASK:-1}" "$@" || status=$?
if [ "$status" = 1 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
	sleep 60 # Slurm ends this task before
fi
exit "$status"
