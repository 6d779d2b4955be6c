/**
 * What operations on accounts and what they hold are asked with: shapes and bounds, as a book has them where it can.
 *
 * @module
 */
import * as z from "zod";

import { type Problem, RatebookError } from "../../errors.ts";
import { collectProblems } from "../problems.ts";
import { readWhole } from "../reading/read-document.ts";
import { account, address } from "../resources/account.ts";
import { setting } from "../resources/catalog-items.ts";
import {
  currency,
  date,
  days,
  decimal,
  decimalAboveZero,
  decimalFromZero,
  email,
  freeForm,
  idOf,
  moment,
  name,
  reference,
} from "../resources/fields.ts";
import { pricingCycleConfig } from "../resources/price-plan.ts";

const accountName = z.string().min(3).max(255);
const alias = idOf(50).min(3);
const key = z.string().min(1).max(255);
const accountIds = z.array(reference).min(1).max(100);
/** A setting of what is made with it: whose it is goes without saying. */
const ownSetting = z.strictObject({
  id: setting.shape.id,
  namespace: setting.shape.namespace.in.unwrap().unwrap(),
  name,
  dataType: setting.shape.dataType.in.unwrap().unwrap(),
  value: setting.shape.value,
});
const settings = z.array(ownSetting).max(10).nullish();

/** Of an account, who it is and how it is invoiced. */
const accountCreate = z.strictObject({
  id: idOf(50),
  name: accountName,
  customerId: reference,
  invoiceCurrency: currency.nullish(),
  aliases: z.array(alias).max(10).nullish(),
  address: address.nullish(),
  primaryEmail: email.nullish(),
  netTermDays: days.nullish(),
  metadata: freeForm.nullish(),
  tags: account.shape.tags,
  settings,
});
/** A customer to be made, and its first account with it. */
const customerCreate = z.strictObject({
  id: idOf(50),
  name: accountName,
  primaryEmail: email.nullish(),
  address: address.nullish(),
  settings,
  account: accountCreate.omit({ customerId: true }).nullish(),
});
const customerPatch = customerCreate.omit({ id: true, account: true, settings: true }).partial();
const accountPatch = accountCreate
  .omit({ id: true, customerId: true, invoiceCurrency: true, aliases: true, settings: true })
  .partial();
const aliases = z.array(alias).min(1).max(100);
const aliasCreate = z
  .array(z.strictObject({ value: alias, accountId: reference.nullish() }))
  .min(1)
  .max(100);

const associate = z.strictObject({
  pricePlanId: reference,
  /** Default: the latest ACTIVE one. */
  version: z.int().min(1).nullish(),
  effectiveFrom: date,
  effectiveUntil: date.nullish(),
  /** Checked with the plan (S16.2). */
  pricePlanDetailsOverride: freeForm.nullish(),
  retainStartOffsets: z.boolean().nullish(),
});
const dissociate = z.strictObject({
  effectiveFrom: date,
  effectiveUntil: date.nullish(),
  /** Where a plan or a version is named, the days may have no other one. */
  pricePlanId: reference.nullish(),
  version: z.int().min(1).nullish(),
});
const migrate = z.strictObject({
  sourceId: z.string().min(1).max(255),
  sourceVersion: z.int().min(1),
  targetId: z.string().min(1).max(255),
  targetVersion: z.int().min(1),
  mode: z.enum(["IMMEDIATE", "IMMEDIATE_IGNORE_OVERRIDE", "NEXT_CYCLE", "NEXT_CYCLE_IGNORE_OVERRIDE"]),
  retainStartOffsets: z.boolean().nullish(),
  pricingCycleConfig: pricingCycleConfig.nullish(),
});

const licenseUpdate = z.strictObject({
  licenseId: reference,
  updateType: z.enum(["ABSOLUTE", "RELATIVE"]),
  quantity: decimal,
  effectiveFrom: moment.nullish(),
  idempotencyKey: key.nullish(),
});
const entryGrant = z.strictObject({
  granted: decimalFromZero,
  effectiveFrom: moment,
  effectiveUntil: moment,
  idempotencyKey: key.nullish(),
});
const entryPatch = z.strictObject({ granted: decimalFromZero.nullish(), effectiveUntil: moment.nullish() });
const creditCreate = z
  .array(
    z.strictObject({
      accountId: reference,
      purpose: name,
      creditAmount: decimalAboveZero,
      priority: z.int(),
      effectiveFrom: date,
      effectiveUntil: date.nullish(),
      applicableEntityIds: z.array(reference).nullish(),
      idempotencyKey: key.nullish(),
    }),
  )
  .min(1)
  .max(100);

const groupCreate = z.strictObject({
  name,
  email,
  dailyInvoiceConsolidation: z.boolean(),
  accountIds,
  netTermDays: days.nullish(),
  gracePeriod: days.nullish(),
  address: address.nullish(),
});

/** Every request, by what it asks for. */
export const REQUESTS = {
  customerCreate,
  customerPatch,
  accountCreate,
  accountPatch,
  aliases,
  aliasCreate,
  associate,
  dissociate,
  migrate,
  licenseUpdate,
  entryGrant,
  entryPatch,
  creditCreate,
  groupCreate,
  accountIds,
} as const;
/** What can be asked for. */
export type RequestKind = keyof typeof REQUESTS;
/** A request as it is given: a decimal may be a number, a text or a Decimal; times are texts (S1.2, S2.2). */
export type RequestInput<Kind extends RequestKind> = z.input<(typeof REQUESTS)[Kind]>;
/** A request as it was read: decimals are Decimals, times are milliseconds since 1970. */
export type RequestOutput<Kind extends RequestKind> = z.output<(typeof REQUESTS)[Kind]>;

/**
 * Reads a request.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with all problems, each with its path
 */
export function readRequest<Kind extends RequestKind>(kind: Kind, raw: unknown): RequestOutput<Kind> {
  return readInput(REQUESTS[kind], raw) as RequestOutput<Kind>;
}

/**
 * Reads an input through its schema.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with all problems, each with its path; the message tells the first of them
 */
export function readInput<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.output<Schema> {
  const problems = collectProblems();
  const shape = readWhole(schema, raw, problems);
  if (problems.count() === 0) return shape as z.output<Schema>;
  const found = problems.error("the request", raw);
  const first = toldOf(found.details.problems, raw);
  const where = first === undefined || first.path === "$" ? "" : `${first.path.replace(/^\$\.?/, "")}: `;
  const sentence = where + (first?.message ?? found.message);
  throw new RatebookError("ERR_INPUT_INVALID", sentence, { problems: found.details.problems });
}

/**
 * The problem that is told: the first, but of what has no field that is known the first that is missing. Whoever sends
 * an event without the `event` around it is helped by that word alone.
 */
function toldOf(problems: readonly Problem[], raw: unknown): Problem | undefined {
  const [first] = problems;
  const isUnknown = ({ path, message }: Problem): boolean => message === "unknown field" && !/[.[]/.test(path.slice(2));
  const given = typeof raw === "object" && raw !== null ? Object.keys(raw).length : 0;
  if (given === 0 || problems.filter(isUnknown).length < given) return first;
  return problems.find(({ message }) => message.startsWith("missing: ")) ?? first;
}
