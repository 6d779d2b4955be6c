/** The law of external events on many random books and rows. */
import { test } from "vitest";

import { checkLaw } from "./law.ts";
import { parquetFiles } from "./parquet-files.ts";
import { types } from "./rows.ts";

test("S17.2, S17.3 a thousand random books and files: DuckDB and the core give the same as the core alone", async () => {
  await checkLaw(parquetFiles(), { types, numRuns: 1000 });
});
