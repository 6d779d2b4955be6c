/** Writes usage cells in the formats that `--usage` reads. */
import type { Writable } from "node:stream";

import { USAGE_FIELDS, type UsageRow } from "../../metering/usage.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { write } from "../io.ts";

/** The formats; the first is the default. */
export const USAGE_FORMATS = ["ndjson", "csv", "json"] as const;
type UsageFormat = (typeof USAGE_FORMATS)[number];

export function isUsageFormat(text: string): text is UsageFormat {
  return (USAGE_FORMATS as readonly string[]).includes(text);
}

/** The buffer size in characters, because a write for each row is slow. */
const BUFFER_CHARACTERS = 65_536;

/** Writes rows with exact quantities. @returns the number of rows */
export async function writeUsage(
  rows: AsyncIterable<UsageRow> | Iterable<UsageRow>,
  format: UsageFormat,
  stream: Writable,
): Promise<number> {
  let count = 0;
  let text = format === "csv" ? `${USAGE_FIELDS.join(",")}\n` : format === "json" ? "[" : "";
  for await (const { accountId, meterId, date, quantity } of rows) {
    const row = { accountId, meterId, date, quantity: formatDecimal(quantity) };
    text += formatRow(row, format, count === 0);
    count++;
    if (text.length < BUFFER_CHARACTERS) continue;
    await write(stream, text);
    text = "";
  }
  await write(stream, format === "json" ? `${text}\n]\n` : text);
  return count;
}

type RowTexts = Readonly<Record<keyof UsageRow, string>>;

function formatRow(row: RowTexts, format: UsageFormat, isFirst: boolean): string {
  switch (format) {
    case "ndjson":
      return `${JSON.stringify(row)}\n`;
    case "csv":
      return `${[row.accountId, row.meterId, row.date, row.quantity].map(escapeCsvField).join(",")}\n`;
    case "json":
      return `${isFirst ? "" : ","}\n  ${JSON.stringify(row)}`;
  }
}

/**
 * Escapes a field so that it is read back unchanged: without an apostrophe against formulas, which would change ids.
 */
function escapeCsvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
