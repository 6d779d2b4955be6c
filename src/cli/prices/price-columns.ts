/** The columns of a price table as a spreadsheet, with a line for each row, or for each tier of a row (S18). */
import { listTiers, type RateRow, type RateTable } from "../../book/resources/rate-table.ts";
import { type JsonObject, valueAt } from "../../book/short/fields.ts";
import { hasCode } from "../../errors.ts";
import { formatDecimal, isDecimalObject, isJsonObject, parseValue } from "../../numbers/decimal.ts";
import { jsonNumber } from "../../numbers/json.ts";

/** A price table of a plan. */
export interface PriceTable {
  readonly rateTable: RateTable;
  /** The dimensions of its meter. */
  readonly groupBy: readonly string[];
  /** Those of the plan. */
  readonly currencies: readonly string[];
}

/** The fields in their order. */
const FIELDS = [
  { field: "when", isUsual: true },
  { field: "from", isUsual: true },
  { field: "pricingModel", choices: ["TIERED", "VOLUME"] },
  { field: "slabsOver", choices: ["ROW", "GROUP"] },
  { field: "upTo", isOfTier: true, isNumber: true },
  { field: "rate", isOfTier: true, isNumber: true, isAmount: true, isUsual: true },
  { field: "flat", isOfTier: true, isNumber: true, isAmount: true },
  { field: "package", isOfTier: true, isNumber: true },
  { field: "chargeAtZero", isOfTier: true, choices: ["false", "true"] },
  { field: "minimum", isOfTier: true, isNumber: true, isAmount: true },
  { field: "maximum", isOfTier: true, isNumber: true, isAmount: true },
] as const;

/** A field of rows or of their tiers; an empty cell is a field that is absent or has its default. */
export interface PriceColumn {
  readonly name: string;
  readonly field: (typeof FIELDS)[number]["field"];
  /** The dimension, or the currency of an amount. */
  readonly key?: string;
  /** Whether it is an amount in the only currency, which needs no name. */
  readonly isOnlyAmount?: boolean;
  readonly isOfTier?: boolean;
  readonly isNumber?: boolean;
  /** The default is the first. */
  readonly choices?: readonly string[];
  /** Whether every spreadsheet has it; the others are written if a cell isn't empty. */
  readonly isUsual?: boolean;
}

/** All columns that a table may have. */
export function listColumns({ rateTable: { per }, groupBy, currencies }: PriceTable): readonly PriceColumn[] {
  const unit = per ? ` per ${formatDecimal(per)}` : "";
  return FIELDS.flatMap((each): readonly PriceColumn[] => {
    const { field } = each;
    if (field === "when") return groupBy.map((key) => ({ ...each, name: `when.${key}`, key }));
    if (!("isAmount" in each)) return [{ ...each, name: field }];
    const isOnlyAmount = currencies.length === 1;
    const after = field === "rate" ? unit : "";
    return currencies.map((key) => ({ ...each, name: `${field} ${key}${after}`, key, isOnlyAmount }));
  });
}

/** The cells of a row, a list for each tier. */
export function toCells(row: RateRow, columns: readonly PriceColumn[]): readonly (readonly string[])[] {
  return listTiers(row).map((tier) => {
    const fields: JsonObject = { ...row, ...tier, pricingModel: row.volumeTiers && "VOLUME" };
    return columns.map((column) => {
      const { [column.field]: field } = fields;
      const value = isJsonObject(field) ? valueAt(field, [column.key ?? ""]) : field;
      const text = isDecimalObject(value) ? formatDecimal(value) : ((value ?? "") as string | boolean).toString();
      return normalizeCell(text, column);
    });
  });
}

/** The same text for equal values; a value that is wrong stays as it is. */
export function normalizeCell(cell: string, { choices, isNumber }: PriceColumn): string {
  if (isNumber) return normalizeNumber(cell.trim());
  const index = choices?.findIndex((choice) => choice.toLowerCase() === cell.trim().toLowerCase()) ?? -1;
  return index === 0 ? "" : (choices?.[index] ?? cell);
}

function normalizeNumber(text: string): string {
  try {
    return formatDecimal(parseValue(text));
  } catch (error) {
    if (!hasCode(error, "ERR_NUMBER_INVALID")) throw error;
    return text;
  }
}

/** A row of a book with the cells of its tiers. @param former the row before; what is equal stays as it is written */
export function toJsonRow(
  lines: readonly (readonly string[])[],
  columns: readonly PriceColumn[],
  { former, hasNumbers }: { readonly former: unknown; readonly hasNumbers: boolean },
): JsonObject {
  const row: Record<string, unknown> = {};
  const tiers = lines.map((cells) => {
    const tier: Record<string, unknown> = {};
    columns.forEach(({ field, key, isOfTier, isNumber, isOnlyAmount }, index) => {
      const cell = cells[index] ?? "";
      if (cell === "") return;
      const part = isOfTier ? tier : row;
      const value = field === "chargeAtZero" ? cell === "true" : isNumber && hasNumbers ? jsonNumber(cell) : cell;
      part[field] =
        key === undefined || isOnlyAmount ? value : { ...(part[field] as object | undefined), [key]: value };
    });
    return tier;
  });
  const { pricingModel = "TIERED", ...rest } = row;
  const [first = {}] = tiers;
  const isRate = pricingModel === "TIERED" && tiers.length === 1 && Object.keys(first).join() === "rate";
  const prices = isRate ? first : { [pricingModel === "TIERED" ? "tiers" : "volumeTiers"]: tiers };
  return mergeValue(former, { ...rest, ...prices }) as JsonObject;
}

/** The new value, with fields in their former order, and decimals as they were written. */
function mergeValue(former: unknown, value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((item: unknown, index) => mergeValue(Array.isArray(former) ? former[index] : undefined, item));
  if (isJsonObject(value)) {
    const old = isJsonObject(former) ? former : {};
    const formerFields = Object.keys(old).filter((field) => Object.hasOwn(value, field));
    const fields = [...new Set([...formerFields, ...Object.keys(value)])];
    return Object.fromEntries(fields.map((field) => [field, mergeValue(old[field], value[field])]));
  }
  const isDecimal = typeof former === "number" || typeof former === "string" || isDecimalObject(former);
  return isDecimal && normalizeNumber(String(former)) === String(value) ? former : value;
}
