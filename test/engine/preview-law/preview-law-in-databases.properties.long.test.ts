import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import { pgliteDatabase, privateDatabase } from "../../store/test-databases.ts";
import { testPreviewLaw } from "./law-tests.ts";

const database = privateDatabase();
const pglite = pgliteDatabase();
let schemas = 0;
const nextSchema = (): { schema: string } => ({ schema: `run ${(schemas += 1)}` });

// Few of each, because this database is slow.
testPreviewLaw("PGlite", () => postgresStore(pglite.client, nextSchema()), { events: 2, invoices: 2, long: 1 });
testPreviewLaw("PostgreSQL", () => postgresStore(database.pool, nextSchema()), { events: 20, invoices: 20, long: 5 });
