package mark

import "io/fs"

// inode returns 0: what lists a folder does not say the number of a file.
func inode(fs.FileInfo) uint64 { return 0 }
