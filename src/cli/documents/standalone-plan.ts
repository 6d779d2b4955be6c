/** Creates a book that contains what a plan refers to, so that the plan can be used alone. */
import { parseBook } from "../../book/book.ts";
import { collectProblems } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import { expandPlanDocument } from "../../book/short/book-forms.ts";
import { type JsonObject, listObjects, valueAt } from "../../book/short/fields.ts";
import { hasCode } from "../../errors.ts";
import { isJsonObject } from "../../numbers/decimal.ts";

/**
 * A book with the meters, add-ons and features that a plan refers to. Invalid references are left to the plan's own
 * check.
 */
export function createBookForPlan(plan: object): Book {
  const { document } = expandPlanDocument(plan, parseBook({}), collectProblems());
  const { pricePlanDetails } = document as { readonly pricePlanDetails?: unknown };
  const details = isJsonObject(pricePlanDetails) ? pricePlanDetails : {};
  // The add-ons and features of a short plan need not be listed.
  const isShort = document !== plan;
  const addOns = (
    [
      ["fixedFeeRateCards", "FIXED_FEE"],
      ["licenseRateCards", "LICENSE"],
      ["creditGrantRateCards", "CREDIT_GRANT"],
    ] as const
  ).flatMap(([list, type]) => toResources(collectReferences(details, [list], "id")).map((item) => ({ ...item, type })));
  const features = collectReferences(
    details,
    ["billingEntitlementRateCards", "entitlementOverageRateCards"],
    "featureId",
  );
  const meterIds = collectReferences(details, ["usageRateCards"], "usageMeterId");
  const groups = meterIds.map((id) => collectGroups(details, id));
  try {
    return parseBook({
      eventSchemas: [
        {
          name: "event",
          attributes: [{ name: "quantity" }],
          dimensions: [...new Set(groups.flat())].map((name) => ({ name })),
        },
      ],
      usageMeters: toResources(meterIds).map((item, index) => ({
        ...item,
        aggregation: "SUM",
        eventSchemaName: "event",
        computations: [{ order: 1, computation: { var: "attribute.quantity" } }],
        ...(groups[index]?.length === 0 ? {} : { groupBy: groups[index] }),
      })),
      features: (isShort ? [] : toResources(features)).map((item) => ({
        ...item,
        schemaAssociations: [{ schemaName: "event", attributeName: "quantity" }],
      })),
      addOns: isShort ? [] : addOns,
    });
  } catch (error) {
    // Some references are invalid as ids; the plan's own check reports them.
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    return parseBook({});
  }
}

/** The dimensions by which the price tables of a meter tell usage apart. */
function collectGroups({ usageRateCards }: JsonObject, meterId: string): readonly string[] {
  const tables = listObjects(usageRateCards).filter((card) => card["usageMeterId"] === meterId);
  const rows = tables.flatMap(({ rateTable }) => listObjects(valueAt(rateTable, ["rows"])));
  return [...new Set(rows.flatMap(({ when }) => (isJsonObject(when) ? Object.keys(when) : [])))];
}

/** The ids that the cards of some lists refer to, without duplicates. */
function collectReferences(details: JsonObject, lists: readonly string[], key: string): readonly string[] {
  const ids = lists.flatMap((list) => listObjects(details[list]).map((card) => card[key]));
  return [...new Set(ids.filter((id) => typeof id === "string"))];
}

/** An id and a name for each reference, which can be either. Ids contain no white space. */
function toResources(texts: readonly string[]): readonly { id: string; name: string; displayName: string }[] {
  return texts.map((text, index) =>
    /\s/.test(text)
      ? { id: `reference-${index + 1}`, name: text, displayName: text }
      : { id: text, name: `reference ${index + 1}`, displayName: text },
  );
}
