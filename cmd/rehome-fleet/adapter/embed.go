// Package adapter holds the npm package that keeps agents of the Cursor SDK in PostgreSQL or
// Redis, and what it shares with the Go program: the tables. The keys in Redis are described in
// internal/redisdb.
package adapter

import _ "embed"

// Schema creates the tables of a PostgreSQL schema, which must be the search path.
//
//go:embed schema.sql
var Schema string
