/**
 * Checks the arguments of engine methods for callers without types, before anything is done. Requests and books have
 * their own schemas.
 *
 * @module
 */
import * as z from "zod";

import { readInput } from "../book/reading/read-request.ts";
import { EVENT_LINE_TYPES } from "../ledger/charged-line.ts";

/** The arguments of a method, in order, with their schemas. */
export type MethodArguments = Readonly<Record<string, z.ZodType>>;

/** The arguments of every method of an engine or a part of it. */
export type ArgumentsOf<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...input: never[]) => unknown
    ? MethodArguments
    : ArgumentsOf<Part[Name]>;
};

/** Wraps a part of an engine; its methods reject with ERR_INPUT_INVALID for invalid arguments. */
export function withCheckedArguments<Part extends object>(part: Part, expected: ArgumentsOf<Part>): Part {
  const checked = Object.entries(part).map(([name, argument]: readonly [string, unknown]) => {
    const expectedArguments = expected[name as keyof Part];
    return [
      name,
      typeof argument === "function"
        ? withArgumentCheck(argument as Method, expectedArguments as MethodArguments)
        : withCheckedArguments(argument as object, expectedArguments as ArgumentsOf<object>),
    ];
  });
  return Object.fromEntries(checked) as Part;
}

type Method = (...input: readonly unknown[]) => Promise<unknown>;

function withArgumentCheck(method: Method, expectedArguments: MethodArguments): Method {
  const names = Object.keys(expectedArguments);
  const schema = z.object(expectedArguments);
  return async (...input) => {
    readInput(schema, Object.fromEntries(names.map((name, place) => [name, input[place]])));
    return method(...input);
  };
}

/** Not checked here: the method validates it with its own schema or parser. */
const READ_LATER = z.unknown();
const ID = z.string();
const IDS = z.array(ID);
const TEXT = ID.optional();
const VERSION = z.number().optional();
const PAGE = z
  .looseObject({ after: z.looseObject({ createdAt: z.number(), id: ID }).optional(), limit: READ_LATER.optional() })
  .optional();
/** The options of a list. Unknown ones are rejected: a filter outside of `filter` would have no effect. */
const listArguments = (filter?: z.ZodType): MethodArguments => ({
  options: z.strictObject({ ...(filter && { filter }), page: PAGE }).optional(),
});
const INSTANT = z.union([z.number(), ID, z.instanceof(Date)]);
/** The pacing of background work. */
const AT_EASE = z.strictObject({ rest: z.number().min(0).optional(), onProgress: READ_LATER.optional() }).optional();
const RANGE = z.looseObject({ from: INSTANT, until: INSTANT }).optional();
const OF_FEATURE = z.looseObject({ accountId: ID, featureId: ID });
const ENTRY = z.looseObject({ accountId: ID, entryId: ID, featureId: TEXT });
const CELLS = z.looseObject({ accountIds: IDS, from: READ_LATER, until: READ_LATER });
const OPTIONS = z.looseObject({}).optional();

const byStatus = z.looseObject({ status: TEXT }).optional();
const change = { id: ID, patch: READ_LATER } as const;
const one = { id: ID } as const;
const page = listArguments();
const nameArgument = { name: ID } as const;
const accountArguments = { accountId: ID, request: READ_LATER } as const;

/** The arguments of an engine's methods. */
export const ENGINE_ARGUMENTS = {
  load: { book: READ_LATER },
  exportBook: {
    options: z
      .strictObject({
        accountsMax: z.number().int().min(0).optional(),
        pricePlansLength: z.number().int().min(0).optional(),
      })
      .optional(),
  },
  ingest: { events: z.custom<readonly unknown[]>(Array.isArray, "expected a list of events") },
  entitle: { event: READ_LATER },
  undo: { filter: z.looseObject({}) },
  preview: { options: z.looseObject({ accountIds: IDS.optional() }).optional() },
  finalize: { asOf: READ_LATER, options: AT_EASE },
  pruneEvents: { options: AT_EASE },
  associate: accountArguments,
  dissociate: accountArguments,
  migrate: { request: READ_LATER },
  migrations: { list: page },
  usage: { query: CELLS },
  overage: { query: CELLS },
  lateUsage: { query: CELLS },
  metrics: { request: READ_LATER },
  calculateRevenue: { request: READ_LATER },
  creditBalance: { accountId: ID },
  events: {
    list: listArguments(
      z
        .looseObject({
          accountId: TEXT,
          schemaName: TEXT,
          status: TEXT,
          accepted: z.boolean().optional(),
          reverted: z.boolean().optional(),
          eventId: TEXT,
          referenceId: TEXT,
          timestamp: RANGE,
          createdAt: RANGE,
        })
        .optional(),
    ),
    get: one,
    keptSince: {},
    places: { events: z.array(z.looseObject({ accountId: ID, timestamp: z.number() })) },
  },
  invoices: {
    list: listArguments(z.looseObject({ accountId: TEXT, customerId: TEXT, status: TEXT }).optional()),
    get: one,
    lineEvents: {
      of: z.strictObject({ invoiceId: ID, lineId: ID, type: z.enum(EVENT_LINE_TYPES).optional() }),
      ...page,
    },
  },
  compositeInvoices: { list: listArguments(z.looseObject({ invoiceGroupId: TEXT }).optional()), get: one },
  organization: { get: {}, claim: { request: READ_LATER } },
  settings: {
    create: { setting: READ_LATER },
    update: change,
    get: one,
    list: listArguments(z.looseObject({ entityType: TEXT }).optional()),
    of: { entityType: z.enum(["CUSTOMER", "ACCOUNT"]), entityIds: IDS },
  },
  eventSchemas: {
    create: { schema: READ_LATER },
    update: { name: ID, patch: READ_LATER },
    activate: nameArgument,
    deactivate: nameArgument,
    archive: nameArgument,
    get: { name: ID, version: VERSION },
    list: listArguments(byStatus),
    versions: { name: ID, ...page },
  },
  usageMeters: {
    create: { meter: READ_LATER },
    update: change,
    activate: one,
    deactivate: one,
    archive: one,
    get: one,
    list: listArguments(z.looseObject({ status: TEXT, aggregation: TEXT }).optional()),
  },
  features: { create: { feature: READ_LATER }, update: change, get: one, list: page },
  addOns: {
    create: { addOn: READ_LATER },
    update: change,
    archive: one,
    get: one,
    list: listArguments(z.looseObject({ status: TEXT, type: TEXT }).optional()),
  },
  pricePlans: {
    create: { plan: READ_LATER },
    update: change,
    createVersion: { id: ID, changes: READ_LATER },
    activate: { id: ID, options: z.looseObject({ currencies: IDS.optional() }).optional() },
    archive: one,
    get: { id: ID, version: VERSION },
    versions: one,
    list: listArguments(byStatus),
  },
  invoiceGroups: {
    create: { group: READ_LATER },
    addAccounts: { id: ID, accountIds: READ_LATER },
    removeAccounts: { id: ID, accountIds: READ_LATER },
    get: one,
    list: page,
  },
  customers: { create: { customer: READ_LATER }, update: change, archive: one, get: one, list: page },
  accounts: {
    create: { account: READ_LATER },
    update: change,
    archive: one,
    get: { id: ID, options: OPTIONS },
    list: listArguments(z.looseObject({ customerId: TEXT, status: TEXT, invoiceGroupId: TEXT }).optional()),
    addAliases: { id: ID, aliases: z.array(READ_LATER) },
    removeAliases: { id: ID, aliases: z.array(READ_LATER) },
    pricingSchedules: one,
  },
  aliases: { create: { aliases: READ_LATER }, remove: { alias: ID }, get: { alias: ID }, list: page },
  licenses: {
    update: accountArguments,
    list: listArguments(z.looseObject({ accountId: TEXT, licenseId: TEXT }).optional()),
  },
  entries: {
    grant: { of: OF_FEATURE, request: READ_LATER },
    update: { of: ENTRY, patch: READ_LATER },
    void: { of: ENTRY },
    list: { of: OF_FEATURE, ...page },
    balance: { of: OF_FEATURE },
  },
  credits: {
    create: { credits: READ_LATER },
    void: one,
    get: one,
    list: listArguments(z.looseObject({ accountId: TEXT }).optional()),
  },
} as const;
