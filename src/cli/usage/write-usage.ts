/**
 * Writes usage cells as a file that `--usage` reads.
 *
 * @module
 */
import type { Writable } from "node:stream";

import { USAGE_FIELDS, type UsageRow } from "../../metering/usage-row.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { write } from "../io.ts";

/** How cells are written; the first is the default. */
export const USAGE_FORMATS = ["ndjson", "csv", "json"] as const;
type UsageFormat = (typeof USAGE_FORMATS)[number];

/** Whether a text is one of {@link USAGE_FORMATS}. */
export function isUsageFormat(text: string): text is UsageFormat {
  return (USAGE_FORMATS as readonly string[]).includes(text);
}

/** Characters: a write for each row takes longer than all else of it. */
const BUFFER_CHARACTERS = 65_536;

/** Writes rows, quantities as exact text. @returns how many there were */
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

/** A field as it is read back: no apostrophe is put before what a spreadsheet would run, for an id must stay one. */
function escapeCsvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
