/** Runs SQL in a new DuckDB database in memory. */
import { DuckDBInstance } from "@duckdb/node-api";

/** Runs statements one after the other. @returns the rows of the last one */
export async function runDuckDb(...statements: readonly string[]): Promise<readonly (readonly unknown[])[]> {
  const instance = await DuckDBInstance.create(":memory:");
  try {
    const connection = await instance.connect();
    let rows: readonly (readonly unknown[])[] = [];
    for (const statement of statements) rows = (await connection.runAndReadAll(statement)).getRows();
    connection.closeSync();
    return rows;
  } finally {
    instance.closeSync();
  }
}

/** Writes a Parquet file with the rows of a query. @returns its path */
export async function writeParquet(path: string, query: string): Promise<string> {
  await runDuckDb(`copy (${query}) to '${path}' (format parquet)`);
  return path;
}
