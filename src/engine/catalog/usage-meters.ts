/**
 * Usage meters: their lifecycle (S5.4).
 *
 * @module
 */
import type { UsageMeterPatch, UsageMeterRequest } from "../../book/model/catalog-requests.ts";
import type { UsageMeter } from "../../book/model/metering.ts";
import { timelineOf } from "../../invoicing/timeline.ts";
import { planOf } from "../../ledger/account/account-plan.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { quoted, refused } from "../../ledger/refusals.ts";
import { accountsIn } from "../account-lists.ts";
import {
  changeConfigured,
  checkGiven,
  checkName,
  type Configuring,
  documentNamed,
  getConfigured,
  listConfigured,
  moved,
  addedDocument,
  patched,
  type Stored,
} from "../configured.ts";
import type { EngineContext } from "../context.ts";
import type { Body } from "../document-body.ts";
import type { DocumentOf } from "../documents.ts";
import type { ListOptions, Page } from "../pages.ts";
import { areSameComputations } from "./same-rules.ts";

type MeterDocument = DocumentOf<"usageMeter">;
const WORDS = { what: "usage meter", rule: "S5.4" } as const;
const MOVES = { ACTIVE: ["DRAFT", "INACTIVE"], INACTIVE: ["ACTIVE"], ARCHIVED: ["DRAFT", "INACTIVE"] } as const;
/** The fields of a meter that may change once it is no DRAFT. */
const NAMES: ReadonlySet<string> = new Set(["name", "billableName", "description"]);

/** Usage meters of an engine. What is given has the shape of a book's `usageMeters`. */
export interface UsageMeters {
  /** A DRAFT. */
  create(meter: UsageMeterRequest): Promise<Stored<UsageMeter>>;
  /** Of one that is no DRAFT only name, billableName and description; the others may be given as they are. */
  update(id: string, patch: UsageMeterPatch): Promise<Stored<UsageMeter>>;
  activate(id: string): Promise<Stored<UsageMeter>>;
  /** Refused while it is in a plan that an account has or will have. */
  deactivate(id: string): Promise<Stored<UsageMeter>>;
  archive(id: string): Promise<Stored<UsageMeter>>;
  get(id: string): Promise<Stored<UsageMeter>>;
  /** Newest first. */
  list(
    options?: ListOptions<{
      readonly status?: UsageMeter["status"] | undefined;
      readonly aggregation?: UsageMeter["aggregation"] | undefined;
    }>,
  ): Promise<Page<Stored<UsageMeter>>>;
}

/** Makes the usage meters of an engine. */
export function usageMetersOf(context: EngineContext): UsageMeters {
  const change = (
    id: string,
    decide: (document: MeterDocument, configuring: Configuring) => Promise<DocumentRecord> | DocumentRecord,
  ): Promise<Stored<UsageMeter>> =>
    changeConfigured(context, "usageMeter", async (configuring) => {
      const document = documentNamed(configuring.before.documents.usageMeter, WORDS.what, id);
      return { documents: [await decide(document, configuring)] };
    });
  return {
    create: (meter) =>
      changeConfigured(context, "usageMeter", ({ before, now }) => {
        const given = checkGiven(meter, ["id", "status"]);
        checkName(before.documents.usageMeter, WORDS, given);
        const own = { id: context.ids("um"), status: "DRAFT" };
        return { documents: [addedDocument(before, "usageMeter", { ...given, ...own }, now)] };
      }),
    update: (id, patch) => change(id, (document, configuring) => updatedIn(document, patch, configuring)),
    activate: (id) => change(id, (document, { now }) => moved(document, WORDS, MOVES, "ACTIVE", now)),
    deactivate: (id) =>
      change(id, async (document, configuring) => {
        const next = moved(document, WORDS, MOVES, "INACTIVE", configuring.now);
        await checkUnused(id, configuring);
        return next;
      }),
    archive: (id) => change(id, (document, { now }) => moved(document, WORDS, MOVES, "ARCHIVED", now)),
    get: (id) => getConfigured(context, "usageMeter", (documents) => documentNamed(documents, WORDS.what, id)),
    list: ({ filter: { status, aggregation } = {}, page = {} } = {}) =>
      listConfigured(
        context,
        "usageMeter",
        (documents) =>
          documents.filter(
            ({ body }) =>
              (status === undefined || body.status === status) &&
              (aggregation === undefined || body.aggregation === aggregation),
          ),
        page,
      ),
  };
}

function updatedIn(document: MeterDocument, patch: object, { before, now }: Configuring): DocumentRecord {
  const given = checkGiven(patch, ["id", "status"]);
  const next = patched(document, given, now);
  checkName(before.documents.usageMeter, WORDS, next.body, ({ id }) => id === document.id);
  const { status } = document.body;
  if (status === "DRAFT") return next;
  const name = quoted(document.body.name);
  if (status === "ARCHIVED") throw refused(WORDS.rule, `the usage meter ${name} is ARCHIVED: it cannot be edited`);
  const fixed = Object.keys(given).find((field) => !NAMES.has(field) && !isAsBefore(document.body, next.body, field));
  if (fixed === undefined) return patched(document, namesOf(given), now);
  throw refused(
    WORDS.rule,
    `${fixed}: only name, billableName and description of the ${status} usage meter ${name} change`,
  );
}

/** Of a patch, what may change; the rest is the same in other words, and stays as it was sent first. */
function namesOf(given: Body): Body {
  return Object.fromEntries(Object.entries(given).filter(([field]) => NAMES.has(field)));
}

function isAsBefore(before: Body, after: Body, field: string): boolean {
  if (field === "computations") return areSameComputations(before[field], after[field]);
  return JSON.stringify(before[field] ?? null) === JSON.stringify(after[field] ?? null);
}

/** A meter that an account pays by, now or in a plan to come, stays ACTIVE: else its usage would not be counted. */
async function checkUnused(meterId: string, { before, view, now }: Configuring): Promise<void> {
  for await (const record of accountsIn(view)) {
    const timeline = timelineOf(planOf(before.catalog, record).decisions);
    const term = timeline.find(
      ({ until, plan }) => until > now && plan.details.usageRateCards.some((card) => card.usageMeterId === meterId),
    );
    if (term === undefined) continue;
    const plan = term.from > now ? "a price plan to come" : "the current price plan";
    throw refused(WORDS.rule, `the usage meter ${quoted(meterId)} is in ${plan} of the account ${quoted(record.id)}`);
  }
}
