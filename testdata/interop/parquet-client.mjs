// Asks DuckDB, which shares no code with rehome, for what stands in Parquet tables.
import { createRequire } from "node:module";
import path from "node:path";

const { DuckDBInstance } = createRequire(path.join(process.env.REHOME_INTEROP_MODULES, "package.json"))("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const answers = [];
for (const query of JSON.parse(process.argv[2])) answers.push((await connection.runAndReadAll(query)).getRowObjectsJson());
process.stdout.write(JSON.stringify(answers));
