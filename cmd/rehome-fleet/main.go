// Command rehome-fleet is rehome with stores on servers, and with work on the stores of many
// machines.
package main

import (
	"maps"
	"os"
	"slices"

	"rehome/cmd/internal/cli"
	"rehome/cmd/rehome-fleet/internal/catalog"
	"rehome/cmd/rehome-fleet/internal/claude"
	"rehome/cmd/rehome-fleet/internal/fleet"
	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/cmd/rehome-fleet/internal/postgres"
	"rehome/cmd/rehome-fleet/internal/reach"
	"rehome/cmd/rehome-fleet/internal/redisdb"
	"rehome/cmd/rehome-fleet/internal/tables"
)

const about = `Move coding-agent sessions between clients, text, servers and tables, for one machine or thousands.`

// commands are those that rehome does not have.
type commands struct {
	fleet.Commands
	Parquet tables.Command  `cmd:"" group:"Fleets:" help:"Write sessions as Parquet tables"`
	Catalog catalog.Command `cmd:"" group:"Fleets:" help:"List sessions of many machines in PostgreSQL"`
}

// homes are the servers that stores can be on, by the schemes of their addresses.
func homes() map[string]reach.Open {
	of := map[string]reach.Open{}
	for _, scheme := range postgres.Schemes() {
		of[scheme] = func(address string) (home.Home, error) { return postgres.New(address) }
	}
	for _, scheme := range redisdb.Schemes() {
		of[scheme] = func(address string) (home.Home, error) { return redisdb.New(address) }
	}
	for _, scheme := range claude.Schemes() {
		of[scheme] = func(address string) (home.Home, error) { return claude.New(address) }
	}
	return of
}

func program() cli.Program {
	return cli.Program{Name: "rehome-fleet", About: about, Commands: &commands{}, Schemes: slices.Sorted(maps.Keys(homes())), Quiet: []string{"plan", "do", "load", "parquet", "catalog"}}
}

func main() {
	os.Exit(reach.Run(cli.Setup(), program(), homes(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}
