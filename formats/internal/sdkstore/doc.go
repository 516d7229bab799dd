// Package sdkstore converts between the rows of a store of the Cursor SDK, its
// documents (see sdkdoc), and the sidecar with what either of them cannot hold.
//
// It knows no database and no file: NewReader takes the rows of a Source, and
// NewWriter gives rows to a Target. Whoever keeps agents, runs, events and
// checkpoints in tables can provide both.
//
//	rows -> documents   maker makes the line of each row; what the line does
//	                    not say is given to View.OnLeftover. putBack restores
//	                    lines from the items of View.Sidecar.
//	documents -> rows   builder makes the row of each line; what the row does
//	                    not say is given to Build.OnSidecar. plan restores cells,
//	                    rows and schemas from the items of Build.Leftover.
//
// Items are addressed by the paths of the SDK's own databases: index.db, with
// the catalog, and agents/agent-<sha256 of the id>/store.db, with the
// checkpoints of an agent.
package sdkstore
