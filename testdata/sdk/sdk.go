// Package sdk carries what a run of the Cursor SDK left behind, for the demo
// and for tests. See README.md beside it for where the files come from.
package sdk

import "embed"

// Stores holds the folder of a project at Project.
//
//go:embed e2e-sqlite-hot-wal
var Stores embed.FS

// Project is the project folder that the client left when its process ended:
// its databases are 4,096 bytes, and every row is in the -wal files.
const Project = "e2e-sqlite-hot-wal/projects/tmp-e2eout-ws"
