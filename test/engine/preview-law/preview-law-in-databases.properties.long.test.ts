import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll } from "vitest";

import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import { privateDatabase } from "../../store/test-databases.ts";
import { testPreviewLaw } from "./law-tests.ts";

const database = privateDatabase();
let pglite: PGlite;
let schemas = 0;
const nextSchema = (): { schema: string } => ({ schema: `run ${(schemas += 1)}` });

beforeAll(async () => {
  pglite = await PGlite.create();
});

afterAll(() => pglite.close());

// Few of each, because this database is slow.
testPreviewLaw("PGlite", () => postgresStore(pglite, nextSchema()), { events: 2, invoices: 2, long: 1 });
testPreviewLaw("PostgreSQL", () => postgresStore(database.pool, nextSchema()), { events: 20, invoices: 20, long: 5 });
