// Package fleet does work on the stores of many machines, which are in a folder or a bucket,
// with one folder for each machine:
//
//	plan    lists it once, and divides it into units: whole stores of one machine
//	do      does the units of one shard, and writes a receipt for each
//	report  compares the receipts with the plan
//	load    loads the results of the verb catalog into PostgreSQL
//
// There is no scheduler. Whatever starts do for each shard, again where it failed, is one: an
// array of Slurm or AWS Batch, an indexed job of Kubernetes, a loop in a shell. That holds
// because of three properties:
//
//   - A plan is immutable and ends with its digest. The id of a unit is a digest of what its
//     results depend on: the recipe, and the name, size and tag of every object. So after a
//     new plan only what changed is done again.
//   - Results have no time, machine or process in them. Two runs of a unit write the same
//     bytes, and may overlap.
//   - The receipt of a unit is written last and never overwritten. Results without a receipt
//     do not exist for readers. A unit whose receipt exists is done.
//
// A store is read in a process of its own, by a command of this program, with limits on its
// memory, time and output, and without this process's environment. Whatever happens to it is
// an outcome in the receipt, and not an error of do. Errors of do are those of this machine
// and of the buckets, which say nothing of a store: another run may succeed. A store that is
// not as it was listed has no outcome, either: the disk may only not be mounted.
//
// The files: rules (which names are stores), group and spool (a listing as stores, in bounded
// memory), plan, shard and index (which units are mine), do, child and judge (a store), receipt,
// report, load, cmd and render (the commands).
package fleet
