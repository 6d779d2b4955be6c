/**
 * The price plans of accounts over HTTP (S16.1, S16.2).
 *
 * @module
 */
import * as z from "zod";

import { date } from "../../../book/resources/fields.ts";
import { pricePlanDetailsOverride } from "../../../book/resources/price-plan.ts";
import type { PricingSchedule } from "../../../engine/accounts/plans.ts";
import type { Engine } from "../../../engine/engine.ts";
import { toPage } from "../../../engine/pages.ts";
import { inputError } from "../../../errors.ts";
import { invalidInputError } from "../../../ledger/refusals.ts";
import { createProblem } from "../../../problem-table.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { pathId, queryTime } from "../../http/fields.ts";
import { listQuery, type PageSizes } from "../../http/pagination.ts";
import { withWireNames } from "../../http/wire-names.ts";
import { answerPage, createListShape, PAGE_LENGTH_MAX, toBoundedJson } from "../../shapes/list.ts";
import { accountScheduleShape, createScheduleReader } from "../../shapes/pricing-schedule.ts";

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

/** Wire names of a plan change. */
const WIRE_NAMES = { version: "pricePlanVersion" };

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
    access: "write",
    params,
    body: planChange,
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
    access: "read",
    params,
    query: listQuery({ start_date: queryTime.optional(), end_date: queryTime.optional() }, SCHEDULE_PAGE_SIZES),
    answers: { 200: createListShape(accountScheduleShape, "PricingScheduleList") },
    handle: async ({ engine, paging, params: { account_id: accountId }, query }) => {
      const request = paging.readRequest({ list: `pricing_schedules:${accountId}`, sizes: SCHEDULE_PAGE_SIZES, query });
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
    return withWireNames(WIRE_NAMES, engine.dissociate(accountId, days));
  }
  if (pricePlanId === undefined || pricePlanId === null) {
    throw inputError([createProblem("$.pricePlanId", "MISSING", { expected: "the id of a price plan" })]);
  }
  return withWireNames(WIRE_NAMES, engine.associate(accountId, { ...rest, pricePlanId, version }));
}

function checkAbsent(field: string, value: unknown): void {
  if (value === undefined || value === null) return;
  throw inputError([createProblem(`$.${field}`, "UNEXPECTED_FIELD", { reason: "with the mode DISASSOCIATE" })]);
}
