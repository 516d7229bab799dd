package fsevents

import (
	"slices"
	"syscall"
)

// isRemote reports whether a folder is on a file system that others can change
// without an event here: of the network, of a host, or of a program.
func isRemote(path string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(path, &s) == nil && slices.Contains([]uint32{
		0x6969,     // NFS
		0x517b,     // SMB
		0xfe534d42, // SMB 2
		0xff534d42, // CIFS
		0x01021997, // 9P: shares of a host, such as drives of Windows under WSL
		0x65735546, // FUSE, and virtiofs
		0x786f4256, // shares of VirtualBox
		0x00c36400, // Ceph
		0x5346414f, // AFS
		0x0bd00bd0, // the parallel file system of many clusters
	}, uint32(s.Type))
}
