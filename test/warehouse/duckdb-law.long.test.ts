/** The law of events that live elsewhere, on many random books and rows. */
import { test } from "vitest";

import { checkLaw } from "./law.ts";
import { parquetFiles } from "./parquet-files.ts";
import { types } from "./rows.ts";

test("S17.2, S17.3 a thousand random books and files: DuckDB and the core give what the core alone gives", async () => {
  await checkLaw(parquetFiles(), { types, numRuns: 1000 });
});
