/** Usage meters: lifecycle (S5.4). */
import * as z from "zod";

import type { UsageMeterPatch, UsageMeterRequest, UsageMeter } from "../../book/resources/event-schema.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { quoteText, refusedError } from "../../ledger/refusals.ts";
import { readAllAccounts } from "../all-accounts.ts";
import { type ConfigurationState, listConfigured } from "../configured-resources.ts";
import type { Body, DocumentOf } from "../documents.ts";
import { ID, IDS, listMethod, method, type Methods, patchMethod, REQUEST, textFields } from "../methods.ts";
import type { PageOptions } from "../pages.ts";
import {
  areSameComputations,
  changeLatest,
  checkName,
  createConfigured,
  getMethod,
  patchDocument,
  requireUserFields,
  statusMethod,
} from "./resource-methods.ts";

type MeterDocument = DocumentOf<"usageMeter">;
const RULE = "S5.4";
/** The fields that can change after the DRAFT status. */
const NAMES: ReadonlySet<string> = new Set(["name", "billableName", "description"]);
/** The fields that decide how usage is kept, and what its quantity is. */
const USAGE_FIELDS: ReadonlySet<string> = new Set(["aggregation", "daily", "carryOver", "mode", "groupBy"]);

export const usageMeterMethods = {
  /** Creates a DRAFT. */
  create: method({ meter: REQUEST }, (context, meter: UsageMeterRequest) =>
    createConfigured(context, "usageMeter", meter, {
      idPrefix: "um",
      engineFields: ["id", "status"],
      initialFields: { status: "DRAFT" },
    }),
  ),
  /** After the DRAFT status only name, billableName and description can change; other fields must be unchanged. */
  update: patchMethod((context, id, patch: UsageMeterPatch) =>
    changeLatest(context, "usageMeter", id, (document, state) => ({
      documents: [updateMeter(document, patch, state)],
    })),
  ),
  activate: statusMethod("usageMeter", "ACTIVE"),
  /** Rejected while a current or future plan of an account uses it. */
  deactivate: statusMethod("usageMeter", "INACTIVE", checkUnused),
  archive: statusMethod("usageMeter", "ARCHIVED"),
  get: getMethod("usageMeter"),
  /** Newest first. */
  list: listMethod(
    { ...textFields("status"), aggregation: z.union([ID, IDS]).optional() },
    (context, { status, aggregation }: UsageMeterFilter, page: PageOptions) =>
      listConfigured(context, "usageMeter", { status, aggregation }, page),
  ),
};

/** Usage meters of an engine, in the shape of a book's `usageMeters`. */
export interface UsageMeters extends Methods<typeof usageMeterMethods> {}

interface UsageMeterFilter {
  readonly status?: UsageMeter["status"] | undefined;
  /** One, or several. */
  readonly aggregation?: UsageMeter["aggregation"] | readonly UsageMeter["aggregation"][] | undefined;
}

function updateMeter(document: MeterDocument, patch: object, { before, now }: ConfigurationState): DocumentRecord {
  const input = requireUserFields(patch, ["id", "status"]);
  const next = patchDocument(document, input, now);
  checkName(before, "usageMeter", next.body, document.id);
  const { status } = document.body;
  if (status === "DRAFT") return next;
  const name = quoteText(document.body.name);
  if (status === "ARCHIVED") throw refusedError(RULE, `the usage meter ${name} is archived and cannot be changed`);
  const fixedField = Object.keys(input).find(
    (field) => !NAMES.has(field) && !isFieldUnchanged(document.body, next.body, field),
  );
  if (fixedField === undefined) return patchDocument(document, changedNames(input), now);
  if (USAGE_FIELDS.has(fixedField)) {
    const meter = `the ${status.toLowerCase()} usage meter ${name}`;
    const [how, verb] = fixedField === "groupBy" ? ["by its groups", "group"] : ["for its aggregation", "aggregate"];
    const reason = `the usage of ${meter} is kept ${how}; create a new usage meter to ${verb} it differently`;
    throw refusedError(RULE, `${fixedField}: ${reason}`);
  }
  throw refusedError(
    RULE,
    `${fixedField}: in the ${status.toLowerCase()} usage meter ${name} only name, billableName and description can change`,
  );
}

/** The fields of a patch that can change. The others are equal to the stored ones, which keep their original form. */
function changedNames(input: Body): Body {
  return Object.fromEntries(Object.entries(input).filter(([field]) => NAMES.has(field)));
}

function isFieldUnchanged(before: Body, after: Body, field: string): boolean {
  if (field === "computations") return areSameComputations(before[field], after[field]);
  // False is the default of a field that is absent.
  return JSON.stringify(before[field] || null) === JSON.stringify(after[field] || null);
}

/** A meter in a current or future plan of an account must stay ACTIVE: otherwise its usage would not be counted. */
async function checkUnused({ id: meterId }: MeterDocument, { before, view, now }: ConfigurationState): Promise<void> {
  for await (const record of readAllAccounts(view)) {
    const { timeline } = findAccountPlan(before.catalog, record);
    const term = timeline.find(
      ({ until, plan }) => until > now && plan.details.usageRateCards.some((card) => card.usageMeterId === meterId),
    );
    if (term === undefined) continue;
    const plan = term.from > now ? "a future price plan" : "the current price plan";
    throw refusedError(
      RULE,
      `the usage meter ${quoteText(meterId)} is in ${plan} of the account ${quoteText(record.id)}`,
    );
  }
}
