/** Sentences on what `init` took from which column, and what it left out. */
import { findDecimalMark } from "../../event-files/cell-texts.ts";
import { isTokenName } from "../../event-files/column-words.ts";
import { createEventMaker, type EventFileMap } from "../../event-files/event-file-map.ts";
import type { Columns } from "../../event-files/guess-columns.ts";
import { quoteText } from "../../event-files/input-error.ts";
import type { Sample } from "../../event-files/sample-columns.ts";
import type { PriceGroups } from "./price-groups.ts";

/** The maximum number of names, and of values of an example, in a sentence. */
const NAMED_MAX = 12;

/** What a file calls its columns and rows. */
export interface FileWords {
  readonly column: string;
  readonly row: string;
}

/** Notes on the columns of times, accounts and ids. */
export function describeOrigins(columns: Columns, { column, row }: FileWords): readonly string[] {
  const { timestamp, account, id, idRepeats } = columns;
  const repeats = idRepeats ? "; the sample has repeated ids, and only the first event with an id counts" : "";
  const isCloudAccount = account !== undefined && /subscription|project/i.test(account);
  return [
    `time in ${quoteText(timestamp)}${describeTimeForm(columns)}`,
    account === undefined
      ? `no ${column} looks like an account: all events belong to account-1 (choose one with --account)`
      : `account in ${quoteText(account)}${isCloudAccount ? `, because no ${column} names a customer (choose one with --account)` : ""}`,
    id === undefined
      ? `no ${column} for the event id; using ${row} numbers, so duplicate events will be billed`
      : `event id in ${quoteText(id)}${repeats}`,
  ];
}

/** Notes on the other columns. */
export function describeColumns(columns: Columns, { column }: FileWords): readonly string[] {
  const { numbers, numbersWithEmptyCells, isMoney, nearNumbers, decimals, texts, unused } = columns;
  const columnsWithMark = (mark: string): readonly string[] => numbers.filter((name) => decimals.get(name) === mark);
  const note = (names: readonly string[], before: string, after = ""): readonly string[] =>
    names.length === 0 ? [] : [`${before}${listNames(names)}${after}`];
  const hasTotal = unused.some(({ reason }) => reason.startsWith("the sum of "));
  const tokenDetails = numbers.filter((name) => !hasTotal && isTokenName(name) && /cache|reasoning/i.test(name));
  const reasons = [...new Set(unused.map(({ reason }) => reason))];
  return [
    ...(numbers.length === 0 ? [`no ${column} with a quantity: events are counted`] : []),
    ...(isMoney
      ? note(numbers, "no quantity, only money: a meter for ", " at a rate of 1")
      : note(numbers, "meters for ")),
    ...note(tokenDetails, "if other columns count the tokens of ", " too, delete these meters"),
    ...note(
      numbersWithEmptyCells,
      `${column === "field" ? "missing fields" : "empty cells"} count as 0 in `,
      ' (see "default" in the map)',
    ),
    ...note(columnsWithMark(","), "numbers with a decimal comma in "),
    ...note(columnsWithMark("."), "numbers with a decimal point in "),
    ...note(texts, "dimensions "),
    ...nearNumbers.map(
      ({ column: name, text }) =>
        `no meter for ${quoteText(name)}, which is a dimension: ${quoteText(text)} is not a number`,
    ),
    ...reasons.flatMap((reason) =>
      note(
        unused.filter((each) => each.reason === reason).map((each) => each.column),
        "not used: ",
        `, ${reason}`,
      ),
    ),
  ];
}

function listNames(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
  return `${names.slice(0, NAMED_MAX).map(quoteText).join(", ")}${more}`;
}

/** A note on a price table. */
export function describeGroups(groups: PriceGroups | undefined): readonly string[] {
  if (groups === undefined) return [];
  const { dimensions, whens } = groups;
  const count = `${whens.length} ${whens.length === 1 ? "row" : "rows"}`;
  return [`a price table by ${dimensions.map(quoteText).join(" and ")}, with ${count}, and one for all other groups`];
}

/** A row as the map reads it: one whose numbers could be read with another decimal mark, else the first. */
export function describeExample(
  { header, rows }: Sample,
  columns: Columns,
  { map, words }: { readonly map: EventFileMap; readonly words: FileWords },
): readonly string[] {
  const marked = columns.numbers.filter((name) => columns.decimals.has(name)).map((name) => header.indexOf(name));
  const isMarked = (row: readonly string[]): boolean =>
    marked.some((at) => findDecimalMark(row[at] ?? "") !== undefined);
  const index = Math.max(rows.findIndex(isMarked), 0);
  const row = rows[index] ?? [];
  const findColumn = (name: string): ((cells: readonly string[]) => string) => {
    const at = header.indexOf(name);
    return (cells) => cells[at] ?? "";
  };
  const event = createEventMaker(map, findColumn, {})(row, index + 1);
  if (!("accountId" in event)) return [];
  const { accountId, timestamp, attributes } = event as unknown as {
    readonly accountId: string;
    readonly timestamp: string;
    readonly attributes: readonly { readonly name: string; readonly value: string }[];
  };
  const values = attributes.slice(0, NAMED_MAX).map(({ name, value }) => {
    const text = row[header.indexOf(name)] ?? "";
    return `${quoteText(name)} ${value}${text === value ? "" : ` (${quoteText(text)} is read as ${value})`}`;
  });
  return [`for example, ${words.row} ${index + 1}: ${[`account ${accountId}`, timestamp, ...values].join(", ")}`];
}

/** A note on the format of times. */
function describeTimeForm({ form, otherForm, isZoneless }: Columns): string {
  const other = otherForm === undefined ? "" : ` (if it is ${otherForm}, change "form" in the map)`;
  return (
    (form === undefined ? "" : `, ${/second/.test(form) ? `in ${form} since 1970` : `in the form ${form}${other}`}`) +
    (isZoneless ? ', read as UTC (see "zone" in the map)' : "")
  );
}
