// Package backup saves the stores of all clients on a machine, and restores them.
//
// A backup is a folder of snapshots. Each snapshot is complete and named by its
// time in UTC:
//
//	DIR/2026-11-22T172803Z/backup.json          what is in it, see Index
//	DIR/2026-11-22T172803Z/<client>/<path>/...  the stores, by their paths below the home folder
//
// SQLite stores are saved as archives: exact text, verified by reading it again. All
// other stores are files already and are copied byte for byte. A file that is equal
// to that of the previous snapshot is a hard link to it, so a snapshot costs what
// has changed.
//
// The archives as of the last run are kept in a hidden folder of DIR, and brought up to date as
// convert --update does, so the cost of a run follows what has changed, not the size of
// the stores.
//
// A run has these steps:
//
//	find     the stores where the clients of the machine keep them
//	skip     those whose files have the size, times and inode of the last run
//	save     the others, into a folder with a temporary name
//	compare  with the previous snapshot: if nothing changed, there is no new one
//	link     what is equal, or no longer exists on the machine
//	place    the snapshot by one rename
//
// A store that cannot be read does not stop the others: the snapshot has its last
// good copy and says so. What has vanished from the machine stays in the backup,
// because that is what a backup is for; Options.Delete drops it.
//
// With Options.WithoutSecrets the folder can be in a git work tree. It then holds
// one copy, which is updated in place, and git keeps the earlier ones.
//
// Restore writes only where a client of this machine looks for its sessions, and
// never over anything that is newer than the backup.
package backup
