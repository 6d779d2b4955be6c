/** The price plans of accounts, and migrations between plans, over HTTP (S16.1, S16.2, S16.5). */
import * as z from "zod";

import { date } from "../../../book/resources/fields.ts";
import {
  applyOverride,
  type PricePlan,
  type PricePlanDetailsOverride,
  pricePlanDetailsOverride,
} from "../../../book/resources/price-plan.ts";
import { REQUESTS } from "../../../book/resources/requests.ts";
import { resolveCycleConfig, isSameCycleConfig, toStartOffset } from "../../../calendar/cycle.ts";
import type { PricingSchedule, MigrationSnapshot } from "../../../engine/accounts/plans.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import { versionId } from "../../../engine/documents.ts";
import type { Engine } from "../../../engine/engine.ts";
import { toPage } from "../../../engine/pages.ts";
import { inputError } from "../../../errors.ts";
import { NO_END } from "../../../invoicing/timeline.ts";
import { invalidInputError } from "../../../ledger/refusals.ts";
import { createProblem } from "../../../problem-table.ts";
import { answerPage, createListShape, PAGE_LENGTH_MAX, toBoundedJson } from "../../http/answers.ts";
import { type Endpoint, defineEndpoint, answerOk, SUCCESS } from "../../http/endpoint.ts";
import { formatTime, timestamp, withoutAbsent, pathId, queryTime, success } from "../../http/fields.ts";
import { listQuery, type PageSizes } from "../../http/pagination.ts";
import { toPlanDetailsJson } from "../catalog/price-plans.ts";
import { pricePlanDetailsShape, rateCardsShape, toCardsJson } from "../catalog/rate-cards.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

/** A period in which an account has one version of a plan. */
const accountScheduleShape = z
  .strictObject({
    id: z.string(),
    pricePlanId: z.string(),
    pricePlanName: z.string(),
    version: z.int().min(1),
    startDate: timestamp,
    endDate: timestamp.meta({ description: "The end, exclusive; `9999-01-01T00:00:00.000Z` if there is none." }),
    pricePlanDetails: pricePlanDetailsShape.meta({
      description: "The plan's details with the override applied, and the pricing cycles of the account.",
    }),
    isOverriden: z.boolean(),
    pricePlanDetailsOverride: rateCardsShape
      .optional()
      .meta({ description: "Changes to the plan for this account; absent if there are none." }),
  })
  .meta({ id: "AccountPricingSchedule" });

/** Converts schedules for answers; reads each plan version once. */
function createScheduleReader(
  engine: Engine,
): (schedule: PricingSchedule) => Promise<z.input<typeof accountScheduleShape>> {
  const plans = new Map<string, StoredResource<PricePlan>>();
  return async (schedule) => {
    const { pricePlanId, version } = schedule;
    const key = versionId(pricePlanId, version);
    const plan = plans.get(key) ?? (await engine.pricePlans.get(pricePlanId, version));
    plans.set(key, plan);
    return toScheduleJson(schedule, plan);
  };
}

function toScheduleJson(
  schedule: PricingSchedule,
  plan: StoredResource<PricePlan>,
): z.input<typeof accountScheduleShape> {
  const { id, pricePlanId, version, from, until = NO_END, override } = schedule;
  return withoutAbsent({
    id,
    pricePlanId,
    pricePlanName: plan.item.name,
    version,
    startDate: formatTime(from),
    endDate: formatTime(until),
    pricePlanDetails: withChargedCycles(schedule, toAccountDetailsJson(plan, override)),
    isOverriden: override !== undefined,
    pricePlanDetailsOverride: override && toCardsJson(omitEmptyLists(override), listCurrencies(plan)),
  });
}

/** The charged cycles. Anniversary and retained cycles start on other days than the plan's. */
function withChargedCycles(
  { cycleConfig, gracePeriodDays, from }: PricingSchedule,
  details: z.input<typeof pricePlanDetailsShape>,
): z.input<typeof pricePlanDetailsShape> {
  const { pricingCycleConfig: planConfig } = details;
  if (planConfig === undefined) return details;
  const config = gracePeriodDays === undefined ? planConfig : { ...planConfig, gracePeriod: gracePeriodDays };
  const isPlanCycle =
    config.anniversaryCycle !== true && isSameCycleConfig(cycleConfig, resolveCycleConfig(config, from));
  if (isPlanCycle) return { ...details, pricingCycleConfig: config };
  return { ...details, pricingCycleConfig: { ...config, startOffset: toStartOffset(cycleConfig) } };
}

function listCurrencies({ item }: StoredResource<PricePlan>): readonly string[] {
  return item.pricePlanDetails.supportedCurrencies ?? [];
}

/** A plan's details with an override applied. */
function toAccountDetailsJson(
  plan: StoredResource<PricePlan>,
  override: PricePlanDetailsOverride | undefined,
): z.input<typeof pricePlanDetailsShape> {
  const planDetails = toPlanDetailsJson(plan) as z.input<typeof pricePlanDetailsShape>;
  if (override === undefined) return planDetails;
  const changedNames = new Set(Object.keys(omitEmptyLists(override)));
  const parts = Object.entries(applyOverride(plan.item.pricePlanDetails, override));
  return {
    ...planDetails,
    ...toCardsJson(Object.fromEntries(parts.filter(([name]) => changedNames.has(name))), listCurrencies(plan)),
  };
}

/** The non-empty parts of an override; empty lists change nothing. */
function omitEmptyLists(override: PricePlanDetailsOverride): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(override).filter(([, part]) => !Array.isArray(part) || part.length > 0));
}

const params = z.strictObject({ account_id: pathId() });

/** The earliest start of a plan's own schedule; every cycle since then is processed. */
const EARLIEST_START = 0;

const planChange = z.strictObject({
  mode: z.enum(["ASSOCIATE", "DISASSOCIATE"]).nullish().meta({ description: "Default ASSOCIATE." }),
  pricePlanId: z.string().min(1).max(255).nullish().meta({
    description: "Required to associate. To disassociate, all days of the period must have this plan or none.",
  }),
  pricePlanVersion: z.int().min(1).nullish().meta({ description: "The version; default the latest ACTIVE one." }),
  effectiveFrom: date
    .refine((from) => from >= EARLIEST_START, { error: "expected 1970-01-01 or a later date" })
    .meta({ type: "string", description: "A date since 1970-01-01, or a date-time at midnight UTC." }),
  effectiveUntil: date.nullish().meta({ type: "string", description: "A date, exclusive; default no end." }),
  pricePlanDetailsOverride: pricePlanDetailsOverride
    .nullish()
    .meta({ description: "Cards that replace those of the plan with the same billable item, or are added." }),
  retainStartOffsets: z
    .boolean()
    .nullish()
    .meta({ description: "Whether the account keeps its current pricing cycles; default false." }),
});
type PlanChange = z.input<typeof planChange>;

const accountSchedulesShape = z
  .strictObject({ accountId: z.string(), accountName: z.string(), pricingSchedules: z.array(accountScheduleShape) })
  .meta({ id: "AccountPricingSchedules" });

/** More schedules per account are rare. */
const SCHEDULE_PAGE_SIZES: PageSizes = { default: 100, max: 100 };

export const ACCOUNT_PLAN_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/accounts/{account_id}/price_plans",
    id: "changePricePlanOfAccount",
    tag: "Accounts",
    summary: "Associate a price plan with an account, or remove it",
    description:
      "The plan replaces the account's plans on the days `[effectiveFrom, effectiveUntil)`. DISASSOCIATE leaves these days " +
      "without a plan. The response has the account's schedules, earliest first; if they exceed 1 MiB of JSON, the latest " +
      "ones that fit, at least one.",
    params,
    body: planChange,
    wireNames: { version: "pricePlanVersion" },
    answers: { 200: accountSchedulesShape },
    handle: async ({ engine, params: { account_id: accountId }, body }) => {
      const schedules = await changePlan(engine, accountId, body);
      const { name: accountName } = await engine.accounts.get(accountId);
      const latestFirst = await toBoundedJson(PAGE_LENGTH_MAX, schedules.toReversed(), createScheduleReader(engine));
      return answerOk({ accountId, accountName, pricingSchedules: latestFirst.toReversed() });
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/accounts/{account_id}/pricing_schedules",
    id: "listPricingSchedules",
    tag: "Accounts",
    summary: "List all plans of an account, past, present and future, earliest first",
    description:
      "With dates, only plans in force at any time in `[start_date, end_date)`. A page ends before its schedules exceed 1 MiB " +
      "of JSON, and has at least one.",
    params,
    query: listQuery({ start_date: queryTime.optional(), end_date: queryTime.optional() }, SCHEDULE_PAGE_SIZES),
    answers: { 200: createListShape(accountScheduleShape, "PricingScheduleList") },
    handle: async ({ engine, paging, params: { account_id: accountId }, query }) => {
      const request = await paging.readRequest({
        list: `pricing_schedules:${accountId}`,
        sizes: SCHEDULE_PAGE_SIZES,
        query,
      });
      const { start_date: start = Number.NEGATIVE_INFINITY, end_date: end = Number.POSITIVE_INFINITY } =
        request.filters;
      if (end <= start) throw invalidInputError("end_date", "DATE_NOT_ALLOWED", "expected a date after start_date");
      const { limit, after: { createdAt: last = Number.NEGATIVE_INFINITY } = {} } = request.page;
      const schedules = await engine.accounts.pricingSchedules(accountId);
      // A schedule without an end continues after any date.
      const matches = schedules.filter(
        ({ from, until }) => from > last && from < end && (until === undefined || until > start),
      );
      const items = await toBoundedJson(PAGE_LENGTH_MAX, matches.slice(0, limit), createScheduleReader(engine));
      const { next } = toPage(matches, items.length, ({ from: createdAt, id }) => ({ createdAt, id }));
      return answerPage(request, next === undefined ? { items } : { items, next });
    },
  }),
];

async function changePlan(
  engine: Engine,
  accountId: string,
  { mode, pricePlanId, pricePlanVersion: version, ...rest }: PlanChange,
): Promise<readonly PricingSchedule[]> {
  const { effectiveFrom, effectiveUntil, pricePlanDetailsOverride: override, retainStartOffsets } = rest;
  if (mode === "DISASSOCIATE") {
    checkAbsent("pricePlanDetailsOverride", override);
    checkAbsent("retainStartOffsets", retainStartOffsets);
    const days = { effectiveFrom, effectiveUntil, pricePlanId, version };
    return engine.dissociate(accountId, days);
  }
  if (pricePlanId === undefined || pricePlanId === null) {
    throw inputError([createProblem("$.pricePlanId", "MISSING", { expected: "the id of a price plan" })]);
  }
  return engine.associate(accountId, { ...rest, pricePlanId, version });
}

function checkAbsent(field: string, value: unknown): void {
  if (value === undefined || value === null) return;
  throw inputError([createProblem(`$.${field}`, "UNEXPECTED_FIELD", { reason: "with the mode DISASSOCIATE" })]);
}

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

const MIGRATIONS = new ResourceEndpoints<MigrationSnapshot>({
  tag: "Migrations",
  path: "/migrations",
  methods: (engine) => engine.migrations,
  shape: migrationShape,
  toJson: toMigrationJson,
});

export const MIGRATION_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/migrations/price_plan",
    id: "migratePricePlan",
    tag: "Migrations",
    summary: "Migrate all accounts from one plan version to another",
    description:
      "All accounts are checked before any is moved. A rejected migration moves none and is not recorded. The response is " +
      "sent when all are moved.",
    body: z.strictObject({
      ...migrateFields,
      migrationMode: mode,
      pricePlanDetailsOverride: z.strictObject({ pricingCycleConfig }).nullish().meta({
        description:
          "The pricing cycles of all migrated accounts; take precedence over retained cycles and those of the target plan.",
      }),
    }),
    wireNames: { pricingCycleConfig: "pricePlanDetailsOverride.pricingCycleConfig" },
    answers: { 200: success },
    handle: async ({ engine, body: { migrationMode, pricePlanDetailsOverride, ...rest } }) => {
      const cycles = withoutAbsent({ pricingCycleConfig: pricePlanDetailsOverride?.pricingCycleConfig });
      await engine.migrate({ ...rest, ...cycles, mode: migrationMode });
      return SUCCESS;
    },
  }),
  MIGRATIONS.list({ id: "listMigrations", summary: "List migrations, newest first", answerId: "MigrationList" }),
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
