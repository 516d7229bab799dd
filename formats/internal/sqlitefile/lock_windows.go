package sqlitefile

// locked has nobody to ask: locks are mandatory here, and reading meets them.
func locked(string) bool { return false }
