/**
 * The price plans of accounts over HTTP (S16.1, S16.2).
 *
 * @module
 */
import * as z from "zod";

import { date } from "../../book/resources/fields.ts";
import { pricePlanDetailsOverride } from "../../book/resources/price-plan.ts";
import type { PricingSchedule } from "../../engine/accounts/plans.ts";
import type { Engine } from "../../engine/engine.ts";
import { invalidInput } from "../../ledger/refusals.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../http/endpoint.ts";
import { pathId, queryTime, wholeNumberField } from "../http/fields.ts";
import { withWireNames } from "../http/wire-names.ts";
import { createListShape } from "../shapes/list.ts";
import { accountScheduleShape, readSchedulesJson } from "../shapes/pricing-schedule.ts";

const params = z.strictObject({ account_id: pathId() });

/** A plan's own schedule begins then; every cycle since is worked through. */
const EARLIEST_START = 0;

const planChange = z.strictObject({
  mode: z.enum(["ASSOCIATE", "DISASSOCIATE"]).nullish().meta({ description: "Default ASSOCIATE." }),
  pricePlanId: z
    .string()
    .min(1)
    .max(255)
    .nullish()
    .meta({ description: "Required to associate; to disassociate, the days may have no other plan." }),
  pricePlanVersion: z.int().min(1).nullish().meta({ description: "Default: the latest ACTIVE one." }),
  effectiveFrom: date
    .refine((from) => from >= EARLIEST_START, { error: "expected a date from 1970-01-01 on: price plans begin then" })
    .meta({ type: "string", description: "A date from 1970-01-01 on, or a date-time that is a midnight UTC." }),
  effectiveUntil: date.nullish().meta({ type: "string", description: "A date, exclusive; default no end." }),
  pricePlanDetailsOverride: pricePlanDetailsOverride
    .nullish()
    .meta({ description: "Cards that replace those of the plan with the same billable item, or are added." }),
  retainStartOffsets: z
    .boolean()
    .nullish()
    .meta({ description: "Whether the pricing cycles of the plan before are kept." }),
});
type PlanChange = z.input<typeof planChange>;

const accountSchedulesShape = z
  .strictObject({ accountId: z.string(), accountName: z.string(), pricingSchedules: z.array(accountScheduleShape) })
  .meta({ id: "AccountPricingSchedules" });

/** Fields of a plan change under the names that the engine has for them. */
const WIRE_NAMES = { version: "pricePlanVersion" };

/** The endpoints of the plans of accounts. */
export const ACCOUNT_PLAN_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/accounts/{account_id}/price_plans",
    id: "changePricePlanOfAccount",
    tag: "Accounts",
    summary: "Associate a price plan with an account, or remove it",
    description:
      "The plan replaces the account's plans on the days `[effectiveFrom, effectiveUntil)`; DISASSOCIATE " +
      "leaves these days without a plan.",
    access: "write",
    params,
    body: planChange,
    answers: { 200: accountSchedulesShape },
    handle: async ({ engine, params: { account_id: accountId }, body }) => {
      const schedules = await changePlan(engine, accountId, body);
      const { name: accountName } = await engine.accounts.get(accountId);
      return answerOk({ accountId, accountName, pricingSchedules: await readSchedulesJson(engine, schedules) });
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/accounts/{account_id}/pricing_schedules",
    id: "listPricingSchedules",
    tag: "Accounts",
    summary: "List all plans of an account, past, present and future, earliest first",
    description: "All on one page; with dates, those in force at any time of `[start_date, end_date)`.",
    access: "read",
    params,
    query: z.strictObject({
      start_date: queryTime.optional(),
      end_date: queryTime.optional(),
      pageSize: wholeNumberField(1, 100)
        .optional()
        .meta({ description: "Accepted and ignored: all plans are on one page." }),
    }),
    answers: { 200: createListShape(accountScheduleShape, "PricingScheduleList") },
    handle: async ({ engine, params: { account_id: accountId }, query }) => {
      const { start_date: start = Number.NEGATIVE_INFINITY, end_date: end = Number.POSITIVE_INFINITY } = query;
      if (end <= start) throw invalidInput("end_date", "expected a date after start_date");
      const schedules = await engine.accounts.pricingSchedules(accountId);
      // A schedule without an end goes on after any date.
      const matches = schedules.filter(({ from, until }) => from < end && (until === undefined || until > start));
      const data = await readSchedulesJson(engine, matches);
      return answerOk({ data, nextToken: null, context: { pageSize: data.length } });
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
    throw invalidInput("pricePlanId", "missing: expected the id of a price plan");
  }
  return withWireNames(WIRE_NAMES, engine.associate(accountId, { ...rest, pricePlanId, version }));
}

function checkAbsent(field: string, value: unknown): void {
  if (value === undefined || value === null) return;
  throw invalidInput(field, "cannot be set with the mode DISASSOCIATE");
}
