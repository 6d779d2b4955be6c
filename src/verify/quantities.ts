/** Compares the quantity of each meter on an invoice with its usage. */
import { type Aggregation, listDays, mustBeProrated } from "./aggregation.ts";
import {
  asList,
  asObject,
  asText,
  compare,
  formatValue,
  type Fraction,
  fractionOrZero,
  type JsonObject,
  runCheck,
  type Tally,
} from "./figures.ts";
import { cardKind, flattenLines, isPriceProrated, readUsageLines } from "./invoice-lines.ts";

/** The usage of accounts. */
export interface Usage {
  readonly meterIds: ReadonlySet<string>;
  /** Whether meters whose events consume a feature may be missing: they have no usage cells (S17.1). */
  readonly mayLackFeatureMeters: boolean;
  /** How the meters of the book make quantities; empty without a book. */
  readonly aggregations: ReadonlyMap<string, Aggregation>;
  /**
   * Units of a meter on the UTC days `[from, until)`; undefined if unknown.
   *
   * @param passedUntil the first day that has not passed, for averages (S19.5); default `until`
   */
  readonly unitsBetween: (
    accountId: string,
    meterId: string,
    from: string,
    until: string,
    passedUntil?: string,
  ) => Fraction | undefined;
}

/** Verifies the usage of each meter. @returns the meters that are permitted to be missing from the usage, and are */
export function verifyQuantities(name: string, invoice: JsonObject, usage: Usage, tally: Tally): readonly string[] {
  if (invoice["invoiceType"] !== "STANDARD") return [];
  // A meter without usage has no line, and only STANDARD invoices list usage.
  const usedUnits = readUsageLines(invoice);
  const cards = flattenLines(asObject(invoice["revenueInfo"])).filter((line) => cardKind(line) === "USAGE");
  const missingMeters = usage.mayLackFeatureMeters
    ? findFeatureMeters(invoice).filter((id) => !usage.meterIds.has(id))
    : [];
  for (const id of new Set([...usedUnits.keys(), ...usage.meterIds])) {
    if (missingMeters.includes(asText(id))) continue;
    const units = computeUnits(invoice, asText(id), usage, fractionOrZero(usedUnits.get(id)));
    if (units === undefined || (!usedUnits.has(id) && units.numerator === 0n)) continue;
    const aggregation = usage.aggregations.get(asText(id));
    runCheck(tally, `${name}: usage of ${formatValue(id)}`, (check) => {
      check.expect("", units, usedUnits.get(id));
      for (const isProrated of cards.filter((card) => card["id"] === id).map(isPriceProrated))
        check.expect(", prorated price", (aggregation && mustBeProrated(aggregation)) ?? isProrated, isProrated);
    });
  }
  return missingMeters;
}

/** The units of a meter for an invoice. A draft may weigh a level over the days that had passed (S19.5). */
function computeUnits(
  { accountId, startDate, endDate, status }: JsonObject,
  meterId: string,
  usage: Usage,
  found: Fraction,
): Fraction | undefined {
  const [from, until] = [asText(startDate), asText(endDate)];
  const isWeighed = status === "DRAFT" && usage.aggregations.get(meterId)?.kind === "TIME_WEIGHTED";
  const unitsUpTo = (day: string): Fraction | undefined =>
    usage.unitsBetween(asText(accountId), meterId, from, until, day);
  const isFound = (units: Fraction | undefined): boolean => units !== undefined && compare(units, found) === 0;
  const units = unitsUpTo(until);
  if (!isWeighed || isFound(units)) return units;
  const [day] = listDays(from, until).find(([each]) => isFound(unitsUpTo(each))) ?? [until];
  return unitsUpTo(day);
}

/** The meters on an invoice that have usage and whose events consume a feature. */
function findFeatureMeters(invoice: JsonObject): readonly string[] {
  const lines = asList(asObject(invoice["usageInfo"])["lineItems"]);
  return lines.filter(({ featureId }) => featureId !== undefined).map(({ id }) => asText(id));
}
