/**
 * Usage meters: lifecycle (S5.4).
 *
 * @module
 */
import type { UsageMeterPatch, UsageMeterRequest, UsageMeter } from "../../book/resources/event-schema.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { quoteText, refusedError } from "../../ledger/refusals.ts";
import { readAllAccounts } from "../all-accounts.ts";
import {
  changeConfigured,
  requireUserFields,
  checkName,
  type ConfigurationState,
  requireDocument,
  readConfigured,
  listConfigured,
  changeStatus,
  addDocument,
  patchDocument,
  type StoredResource,
} from "../configured-resources.ts";
import type { EngineContext } from "../context.ts";
import type { Body } from "../document-body.ts";
import type { DocumentOf } from "../documents.ts";
import type { ListOptions, Page } from "../pages.ts";
import { areSameComputations } from "./equal-rules.ts";

type MeterDocument = DocumentOf<"usageMeter">;
const WORDS = { noun: "usage meter", rule: "S5.4" } as const;
const TRANSITIONS = { ACTIVE: ["DRAFT", "INACTIVE"], INACTIVE: ["ACTIVE"], ARCHIVED: ["DRAFT", "INACTIVE"] } as const;
/** The fields that can change after the DRAFT status. */
const NAMES: ReadonlySet<string> = new Set(["name", "billableName", "description"]);

/** Usage meters of an engine, in the shape of a book's `usageMeters`. */
export interface UsageMeters {
  /** Creates a DRAFT. */
  create(meter: UsageMeterRequest): Promise<StoredResource<UsageMeter>>;
  /** After the DRAFT status only name, billableName and description can change; other fields must be unchanged. */
  update(id: string, patch: UsageMeterPatch): Promise<StoredResource<UsageMeter>>;
  activate(id: string): Promise<StoredResource<UsageMeter>>;
  /** Rejected while a current or future plan of an account uses it. */
  deactivate(id: string): Promise<StoredResource<UsageMeter>>;
  archive(id: string): Promise<StoredResource<UsageMeter>>;
  get(id: string): Promise<StoredResource<UsageMeter>>;
  /** Newest first. */
  list(
    options?: ListOptions<{
      readonly status?: UsageMeter["status"] | undefined;
      readonly aggregation?: UsageMeter["aggregation"] | undefined;
    }>,
  ): Promise<Page<StoredResource<UsageMeter>>>;
}

export function createUsageMeters(context: EngineContext): UsageMeters {
  const change = (
    id: string,
    decide: (document: MeterDocument, state: ConfigurationState) => Promise<DocumentRecord> | DocumentRecord,
  ): Promise<StoredResource<UsageMeter>> =>
    changeConfigured(context, "usageMeter", async (state) => {
      const document = requireDocument(state.before.documents.usageMeter, WORDS.noun, id);
      return { documents: [await decide(document, state)] };
    });
  return {
    create: (meter) =>
      changeConfigured(context, "usageMeter", ({ before, now }) => {
        const input = requireUserFields(meter, ["id", "status"]);
        checkName(before.documents.usageMeter, WORDS, input);
        const initialFields = { id: context.ids("um"), status: "DRAFT" };
        return { documents: [addDocument(before, "usageMeter", { ...input, ...initialFields }, now)] };
      }),
    update: (id, patch) => change(id, (document, state) => updateMeter(document, patch, state)),
    activate: (id) => change(id, (document, { now }) => changeStatus(document, WORDS, TRANSITIONS, "ACTIVE", now)),
    deactivate: (id) =>
      change(id, async (document, state) => {
        const next = changeStatus(document, WORDS, TRANSITIONS, "INACTIVE", state.now);
        await checkUnused(id, state);
        return next;
      }),
    archive: (id) => change(id, (document, { now }) => changeStatus(document, WORDS, TRANSITIONS, "ARCHIVED", now)),
    get: (id) => readConfigured(context, "usageMeter", (documents) => requireDocument(documents, WORDS.noun, id)),
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

function updateMeter(document: MeterDocument, patch: object, { before, now }: ConfigurationState): DocumentRecord {
  const input = requireUserFields(patch, ["id", "status"]);
  const next = patchDocument(document, input, now);
  checkName(before.documents.usageMeter, WORDS, next.body, ({ id }) => id === document.id);
  const { status } = document.body;
  if (status === "DRAFT") return next;
  const name = quoteText(document.body.name);
  if (status === "ARCHIVED")
    throw refusedError(WORDS.rule, `the usage meter ${name} is archived and cannot be changed`);
  const fixedField = Object.keys(input).find(
    (field) => !NAMES.has(field) && !isFieldUnchanged(document.body, next.body, field),
  );
  if (fixedField === undefined) return patchDocument(document, changedNames(input), now);
  throw refusedError(
    WORDS.rule,
    `${fixedField}: in the ${status.toLowerCase()} usage meter ${name} only name, billableName and description can change`,
  );
}

/** The fields of a patch that can change. The others are equal to the stored ones, which keep their original form. */
function changedNames(input: Body): Body {
  return Object.fromEntries(Object.entries(input).filter(([field]) => NAMES.has(field)));
}

function isFieldUnchanged(before: Body, after: Body, field: string): boolean {
  if (field === "computations") return areSameComputations(before[field], after[field]);
  return JSON.stringify(before[field] ?? null) === JSON.stringify(after[field] ?? null);
}

/** A meter in a current or future plan of an account must stay ACTIVE: otherwise its usage would not be counted. */
async function checkUnused(meterId: string, { before, view, now }: ConfigurationState): Promise<void> {
  for await (const record of readAllAccounts(view)) {
    const { timeline } = findAccountPlan(before.catalog, record);
    const term = timeline.find(
      ({ until, plan }) => until > now && plan.details.usageRateCards.some((card) => card.usageMeterId === meterId),
    );
    if (term === undefined) continue;
    const plan = term.from > now ? "a future price plan" : "the current price plan";
    throw refusedError(
      WORDS.rule,
      `the usage meter ${quoteText(meterId)} is in ${plan} of the account ${quoteText(record.id)}`,
    );
  }
}
