package main

import "os"

// peak is not told by the standard library here; the table shows 0.
func peak(*os.ProcessState) int64 { return 0 }

func settle() {}
