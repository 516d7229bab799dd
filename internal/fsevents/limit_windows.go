package fsevents

// filesOpened says whether a watch opens every file of the folder.
const filesOpened = false

// limitReached reports whether the system has no more watches. Windows has no
// limit of its own.
func limitReached(error) bool { return false }
