/** What a database is given, and gives, of an account with decades of cycles is made in small pieces (S13.4). */
import { expect, test } from "vitest";

import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import { privateDatabase } from "../../store/private-database.ts";
import { farBehind, turnsDuring } from "./far-behind.ts";

const database = privateDatabase();

test("2,967 invoices are written, and read again by a plan change, while others have their turn", async () => {
  const { engine, planId } = await farBehind(await postgresStore(database.pool));
  // How long a piece takes depends on the machine; its part of the whole does not.
  const billed = await turnsDuring(async () => expect((await engine.finalize()).finalized).toBe(2967));
  expect(billed.longest).toBeLessThan(billed.worked / 8);
  const changed = await turnsDuring(() =>
    engine.associate("prod", { pricePlanId: planId, effectiveFrom: "2024-06-20" }),
  );
  expect(changed.longest).toBeLessThan(changed.worked / 3);
}, 60_000);
