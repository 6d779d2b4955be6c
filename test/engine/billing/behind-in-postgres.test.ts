/** What a database is given, and gives, of an account with decades of cycles is made in small pieces (S13.4). */
import { expect, test } from "vitest";

import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import { privateDatabase } from "../../store/private-database.ts";
import { farBehind, turnsDuring } from "./far-behind.ts";

const database = privateDatabase();

test("2,967 invoices are written, and read again by a plan change, while others have their turn", async () => {
  const { engine, planId } = await farBehind(await postgresStore(database.pool));
  // How long a piece takes depends on the machine; its part of the whole does not: 1/18 to 1/30, and 1/7 to 1/10. Where all
  // invoices were one statement, and all were parsed at once, they were a fourth and nearly all.
  const billed = await turnsDuring(async () => expect((await engine.finalize()).finalized).toBe(2967));
  expect(billed.longest).toBeLessThan(billed.worked / 6);
  const changed = await turnsDuring(() =>
    engine.associate("prod", { pricePlanId: planId, effectiveFrom: "2024-06-20" }),
  );
  expect(changed.longest).toBeLessThan(changed.worked / 2);
});
