package tables

import "strings"

// SchemaName returns the name of the schema of a table's rows.
func SchemaName(table string) string { return "parquet-" + strings.ReplaceAll(table, "_", "-") + "-1" }
