/**
 * The methods of an engine and their context. Each resource has a table of its methods beside its functions: the
 * arguments, checked for callers without types before anything is done, and the function. Requests and books have
 * their own schemas.
 */
import * as z from "zod";

import { readInput } from "../book/reading/read-request.ts";
import type { Instant } from "../calendar/instant.ts";
import type { IdSource } from "../ledger/decision.ts";
import type { IngestResult } from "../ledger/events/ingest.ts";
import type { RuleBudget } from "../rules/budget.ts";
import type { ConfigurationSource } from "./configuration.ts";
import type { EngineStore } from "./external-usage.ts";
import type { ListOptions, PagedOptions, PageOptions } from "./pages.ts";

/** A method of a table, without its engine. */
export type EngineMethod<Input extends readonly unknown[], Result> = (
  context: EngineContext,
) => (...input: Input) => Promise<Result>;

/** The methods of a table, for one engine. */
export type Methods<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends (context: EngineContext) => infer Call
    ? Call
    : Methods<Table[Name]>;
};

/** A method that rejects with ERR_INPUT_INVALID for invalid arguments. @param expected their schemas, in order */
export function method<Input extends readonly unknown[], Result>(
  expected: Readonly<Record<string, z.ZodType>>,
  run: (context: EngineContext, ...input: Input) => Promise<Result>,
): EngineMethod<Input, Result> {
  const names = Object.keys(expected);
  const schema = z.object(expected);
  return (context) =>
    async (...input) => {
      readInput(schema, Object.fromEntries(names.map((name, place) => [name, input[place]])));
      return run(context, ...input);
    };
}

/** The fields of a filter that are texts. */
export function textFields(...names: readonly string[]): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(names.map((name) => [name, ID.optional()]));
}

/** A method that returns a page of a list, with a filter. */
export function listMethod<Filter extends object, Result>(
  fields: Readonly<Record<string, z.ZodType>>,
  run: (context: EngineContext, filter: Filter, page: PageOptions) => Promise<Result>,
): EngineMethod<[options?: ListOptions<Filter>], Result> {
  // Unknown options are rejected: a filter outside of `filter` would have no effect.
  const options = z.strictObject({ filter: z.looseObject(fields).optional(), page: PAGE }).optional();
  return method({ options }, (context, { filter, page = {} }: ListOptions<Filter> = {}) =>
    run(context, filter ?? ({} as Filter), page),
  );
}

/** A method that returns a page of a list, without a filter. */
export function pageMethod<Result>(
  run: (context: EngineContext, page: PageOptions) => Promise<Result>,
): EngineMethod<[options?: PagedOptions], Result> {
  return method(PAGED, (context, { page = {} }: PagedOptions = {}) => run(context, page));
}

/** A method whose only argument is an id. */
export function idMethod<Result>(
  run: (context: EngineContext, id: string) => Promise<Result>,
): EngineMethod<[id: string], Result> {
  return method({ id: ID }, run);
}

/** A method that changes what has an id. */
export function patchMethod<Patch, Result>(
  run: (context: EngineContext, id: string, patch: Patch) => Promise<Result>,
): EngineMethod<[id: string, patch: Patch], Result> {
  return method({ id: ID, patch: REQUEST }, run);
}

/** The methods of a table, and of those in it, for an engine. */
export function bindMethods<Table extends object>(table: Table, context: EngineContext): Methods<Table> {
  const bound = Object.entries(table).map(([name, entry]: readonly [string, EngineMethod<[], unknown> | object]) => [
    name,
    typeof entry === "function" ? (entry as EngineMethod<[], unknown>)(context) : bindMethods(entry, context),
  ]);
  return Object.fromEntries(bound) as Methods<Table>;
}

/** Not checked here: the method validates it with its own schema or parser. */
export const REQUEST = z.unknown();
export const ID = z.string();
export const IDS = z.array(ID);
const PAGE = z
  .looseObject({ after: z.looseObject({ createdAt: z.number(), id: ID }).optional(), limit: REQUEST.optional() })
  .optional();
/** The options of a list without a filter. */
export const PAGED = { options: z.strictObject({ page: PAGE }).optional() };
/** The pacing of background work. */
export const PACING = {
  options: z.strictObject({ rest: z.number().min(0).optional(), onProgress: REQUEST.optional() }).optional(),
};
export const ACCOUNT_REQUEST = { accountId: ID, request: REQUEST };

/** The parts and options of an engine, with defaults applied. */
export interface EngineContext {
  readonly store: EngineStore;
  /** Milliseconds since 1970; called once per decision, after its locks are acquired. */
  readonly clock: () => Instant;
  readonly ids: IdSource;
  readonly configuration: ConfigurationSource;
  /** The budget for one evaluation of a rule (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
  /** How long events are kept, in milliseconds; undefined: forever. */
  readonly keepEventsMs: number | undefined;
  /** Called for each account that a bill run skips. */
  readonly onSkipped?: ((accountId: string, error: unknown) => void) | undefined;
  /** Last known accounts by alias: only a hint of what to lock, checked under the lock. */
  readonly aliasHints: Map<string, string>;
  /** Ingests events; concurrent calls share commits. */
  readonly ingest: (events: readonly unknown[]) => Promise<readonly IngestResult[]>;
}
