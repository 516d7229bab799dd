// Package kill kills programs at chosen system calls, for tests of what they leave behind. It is
// empty where there is no ptrace.
package kill
