/** Verifies the quantities of an invoice from usage: those of meters, and those of the rows of price tables. */
import { type Aggregation, listDays, mustBeProrated } from "./aggregation.ts";
import {
  add,
  asList,
  asObject,
  asText,
  type Check,
  compare,
  formatValue,
  type Fraction,
  fractionOrZero,
  type JsonObject,
  runCheck,
  sumFigures,
  type Tally,
  ZERO,
} from "./figures.ts";
import { isPriceProrated, readUsageLines } from "./invoice-lines.ts";
import { parseDayGroup } from "./usage-cells.ts";

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
  /** The {@link dayKey} and units of each cell of a meter that sums, on the UTC days `[from, until)`; undefined if unknown. */
  readonly cellsBetween: (accountId: string, meterId: string, from: string, until: string) => Cells | undefined;
}

type Cells = readonly (readonly [day: string, units: Fraction])[];

/** An invoice, and its lines of usage cards. */
interface UsedInvoice {
  readonly invoice: JsonObject;
  readonly cards: readonly JsonObject[];
}

/** Verifies the usage of each meter. @returns the meters that are permitted to be missing from the usage, and are */
export function verifyQuantities(
  name: string,
  { invoice, cards }: UsedInvoice,
  usage: Usage,
  tally: Tally,
): readonly string[] {
  if (invoice["invoiceType"] !== "STANDARD") return [];
  // A meter without usage has no line, and only STANDARD invoices list usage.
  const usedUnits = readUsageLines(invoice);
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
      const [accountId = "", from = "", until = ""] = [
        invoice["accountId"],
        invoice["startDate"],
        invoice["endDate"],
      ].map(asText);
      const cells = usage.cellsBetween(accountId, asText(id), from, until);
      const unpriced = asList(invoice["unpriced"]).filter(({ meterId }) => meterId === id);
      for (const card of cards.filter((each) => each["id"] === id)) {
        const isProrated = isPriceProrated(card);
        check.expect(", prorated price", (aggregation && mustBeProrated(aggregation)) ?? isProrated, isProrated);
        if (cells !== undefined) verifyRows(asObject(card["explanation"]), { cells, unpriced }, check);
      }
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

/**
 * Compares the units of each row with the usage of its groups (S18.2). Some are unknown, because only parts have groups:
 * where units are given back, where a group is in several rows, and where it may be wholly free in another row.
 */
function verifyRows(
  explanation: JsonObject,
  { cells, unpriced }: { readonly cells: Cells; readonly unpriced: readonly JsonObject[] },
  check: Check,
): void {
  const used = new Map<string, { readonly group: JsonObject; readonly units: Fraction }>();
  for (const [day, dayUnits] of cells) {
    const group = parseDayGroup(day);
    const key = groupKey(Object.values(group));
    const { group: other, units } = used.get(key) ?? { group, units: ZERO };
    if (dayUnits.numerator < 0n || JSON.stringify(other) !== JSON.stringify(group)) return;
    used.set(key, { group, units: add(units, dayUnits) });
  }
  const rows = new Map<string, { readonly groups: Set<string>; readonly items: JsonObject[] }>();
  const rowCounts = new Map<string, number>();
  for (const part of asList(explanation["parts"]).filter((each) => each["row"] !== undefined)) {
    const { when, groups } = asObject(part["row"]);
    const row = rows.get(JSON.stringify(when)) ?? { groups: new Set(), items: [] };
    for (const key of (groups as readonly (readonly unknown[])[]).map(groupKey)) {
      if (!row.groups.has(key)) rowCounts.set(key, (rowCounts.get(key) ?? 0) + 1);
      row.groups.add(key);
    }
    row.items.push(part);
    rows.set(JSON.stringify(when), row);
  }
  const free = asList(explanation["free"]).map((item) => {
    const when = Object.entries(asObject(item["when"]));
    const groupKeys = [...used].filter(([, { group }]) => when.every(([name, text]) => group[name] === text));
    return { item, when: JSON.stringify(item["when"]), groupKeys: groupKeys.map(([key]) => key) };
  });
  for (const [when, { groups, items }] of rows) {
    const own = free.filter((each) => each.when === when);
    const isKnown =
      [...groups].every((key) => rowCounts.get(key) === 1) &&
      free.every(({ groupKeys, ...each }) => groupKeys.every((key) => groups.has(key) === (each.when === when)));
    if (!isKnown) continue;
    const units = [...groups].reduce((sum, key) => add(sum, used.get(key)?.units ?? ZERO), ZERO);
    const ownUnpriced = unpriced.filter(({ group }) => groups.has(groupKey(Object.values(asObject(group)))));
    const priced = [...items, ...own.map(({ item }) => item), ...ownUnpriced];
    check.expect(`, row ${when}`, units, sumFigures(priced, "quantity"));
  }
}

/** Equal for the same texts in any order, because parts do not name the dimensions of their groups. */
function groupKey(texts: readonly unknown[]): string {
  return JSON.stringify(texts.map(asText).toSorted());
}

/** The meters on an invoice that have usage and whose events consume a feature. */
function findFeatureMeters(invoice: JsonObject): readonly string[] {
  const lines = asList(asObject(invoice["usageInfo"])["lineItems"]);
  return lines.filter(({ featureId }) => featureId !== undefined).map(({ id }) => asText(id));
}
