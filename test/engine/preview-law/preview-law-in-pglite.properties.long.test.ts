import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll } from "vitest";

import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import { testPreviewLaw } from "./law-tests.ts";

let database: PGlite;
let schemas = 0;

beforeAll(async () => {
  database = await PGlite.create();
});

afterAll(() => database.close());

// Few of each, because a database is slow; the long tests have more.
testPreviewLaw("PGlite", () => postgresStore(database, { schema: `run ${(schemas += 1)}` }), {
  events: 2,
  invoices: 2,
  long: 1,
});
