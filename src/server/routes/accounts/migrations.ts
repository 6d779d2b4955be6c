/**
 * Migrations of accounts between price plans over HTTP (S16.5).
 *
 * @module
 */
import * as z from "zod";

import { REQUESTS } from "../../../book/resources/requests.ts";
import type { MigrationSnapshot } from "../../../engine/accounts/plans.ts";
import { type Endpoint, defineEndpoint, SUCCESS } from "../../http/endpoint.ts";
import { formatTime, success, timestamp, withoutAbsent } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { withWireNames } from "../../http/wire-names.ts";
import { createListShape, answerPage } from "../../shapes/list.ts";

const TAG = "Migrations";
const { mode, pricingCycleConfig, ...migrateFields } = REQUESTS.migrate.shape;
const migrationShape = z
  .strictObject({
    migrationId: z.string(),
    id: z.string().meta({ description: "Equal to `migrationId`." }),
    status: z.literal("COMPLETED"),
    type: z.literal("PRICE_PLAN"),
    updatedAt: timestamp,
    totalEntries: z.int().min(0).meta({ description: "Number of accounts with the source plan." }),
    movedEntries: z.int().min(0),
    skippedEntries: z.int().min(0).meta({
      description:
        "Number of accounts that were not moved, because of their overrides or because no next cycle follows.",
    }),
  })
  .meta({ id: "Migration" });

export const MIGRATION_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/migrations/price_plan",
    id: "migratePricePlan",
    tag: TAG,
    summary: "Migrate all accounts from one plan version to another",
    description:
      "All accounts are checked before any is moved. A rejected migration moves none and is not recorded. The response is " +
      "sent when all are moved.",
    access: "write",
    body: z.strictObject({
      ...migrateFields,
      migrationMode: mode,
      pricePlanDetailsOverride: z.strictObject({ pricingCycleConfig }).nullish().meta({
        description:
          "The pricing cycles of all migrated accounts; take precedence over retained cycles and those of the target plan.",
      }),
    }),
    answers: { 200: success },
    handle: async ({ engine, body: { migrationMode, pricePlanDetailsOverride, ...rest } }) => {
      const cycles = withoutAbsent({ pricingCycleConfig: pricePlanDetailsOverride?.pricingCycleConfig });
      const migration = engine.migrate({ ...rest, ...cycles, mode: migrationMode });
      await withWireNames({ pricingCycleConfig: "pricePlanDetailsOverride.pricingCycleConfig" }, migration);
      return SUCCESS;
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/migrations",
    id: "listMigrations",
    tag: TAG,
    summary: "List migrations, newest first",
    access: "read",
    query: listQuery({}),
    answers: { 200: createListShape(migrationShape, "MigrationList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "migrations", query });
      return answerPage(request, await engine.migrations.list({ page: request.page }), toMigrationJson);
    },
  }),
];

function toMigrationJson(migration: MigrationSnapshot): z.input<typeof migrationShape> {
  const { id, createdAt, total, moved, skipped } = migration;
  return {
    migrationId: id,
    id,
    status: "COMPLETED",
    type: "PRICE_PLAN",
    // A migration is complete when it is recorded, and never changes.
    updatedAt: formatTime(createdAt),
    totalEntries: Number(total),
    movedEntries: Number(moved),
    skippedEntries: Number(skipped),
  };
}
