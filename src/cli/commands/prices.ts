/** `ratebook prices`: writes a price table as a spreadsheet, and puts one back into the book. */
import { type Book, parseBook, toWrittenPath } from "../../book/book.ts";
import { parsePath, type Path } from "../../book/problems.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { replaceAt, valueAt } from "../../book/short/fields.ts";
import { hasCode } from "../../errors.ts";
import { toPrintable } from "../../pages/printable.ts";
import { type Arguments, type Command, requireBookPath } from "../arguments.ts";
import { readBookFile, readTextFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { withOutput, writeToFile } from "../output/output-file.ts";
import { describeChanges, replaceRows, rowKey } from "../prices/price-changes.ts";
import {
  formatPrices,
  listColumns,
  type PriceSheet,
  type PriceTable,
  readPrices,
  toCells,
  toJsonRow,
} from "../prices/price-sheet.ts";

export const pricesCommand: Command = {
  usage: "BOOK [--plan ID] [--meter ID] [--update FILE] [-o FILE]",
  options: {
    plan: { kind: "one", value: "ID", help: "the plan, if several have price tables; its last version" },
    meter: { kind: "one", value: "ID", help: "the usage meter, if the plan has several price tables" },
    format: { kind: "one", choices: ["csv"], help: "format of the price table; default csv" },
    update: { kind: "one", value: "FILE", help: "replace the rows of the table by those of this spreadsheet" },
    output: { kind: "one", short: "o", value: "FILE", help: "write to this file; with --update, default BOOK itself" },
  },
  run: runPrices,
};

async function runPrices(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const bookPath = requireBookPath(args);
  const { book } = await readBookFile(bookPath, io);
  const table = findTable(book, args);
  const sheetPath = args.value("update");
  if (sheetPath === undefined) {
    await withOutput(args, io, ({ stdout }) => write(stdout, formatPrices(table)));
    return "done";
  }
  const text = await readTextFile(bookPath, io);
  const problems: string[] = [];
  const sheet = await readPrices(sheetPath, { text: await readTextFile(sheetPath, io), table, problems });
  const update = problems.length === 0 ? updateTable(table, { sheet, text, problems }) : undefined;
  if (update === undefined || problems.length > 0) {
    await write(io.stderr, problems.map((problem) => `${toPrintable(problem)}\n`).join(""));
    return "problems";
  }
  const output = args.value("output") ?? (update.text === text ? undefined : bookPath);
  if (output !== undefined) await writeToFile(output, io, ({ stdout }) => write(stdout, update.text));
  await write(io.stdout, update.changes.map((change) => `${toPrintable(change)}\n`).join(""));
  return "done";
}

/** A price table, and where it is written. */
interface PlacedTable extends PriceTable {
  readonly planId: string;
  readonly meterId: string;
  readonly path: Path;
}

/** @throws {UsageError} if there is none, or several and the options do not select one */
function findTable(book: Book, args: Arguments): PlacedTable {
  const [plan, meter] = [args.value("plan"), args.value("meter")];
  const tables = listTables(book);
  const [table, ...others] = tables.filter(
    ({ planId, meterId }) => (plan ?? planId) === planId && (meter ?? meterId) === meterId,
  );
  if (table !== undefined && others.length === 0) return table;
  const options = tables.map(({ planId, meterId }) => `--plan ${planId} --meter ${meterId}`).join("; ");
  if (options === "") throw new UsageError("no plan of the book has a price table (rateTable)");
  throw new UsageError(
    `${table === undefined ? "no such price table" : "several price tables"}; use one of: ${options}`,
  );
}

/** The price tables of the last versions of plans. */
function listTables(book: Book): readonly PlacedTable[] {
  return book.pricePlans.flatMap(({ id, version, pricePlanDetails }, planIndex) => {
    if (book.pricePlans.some((other) => other.id === id && other.version > version)) return [];
    return pricePlanDetails.usageRateCards.flatMap(({ usageMeterId, rateTable }, index): readonly PlacedTable[] => {
      if (!rateTable) return [];
      const path = ["pricePlans", planIndex, "pricePlanDetails", "usageRateCards", index, "rateTable"];
      const { groupBy = [] } = book.usageMeters.find((meter) => meter.id === usageMeterId) ?? {};
      const currencies = pricePlanDetails.supportedCurrencies ?? [book.organization.baseCurrency];
      return [{ planId: id, meterId: usageMeterId, path: toWrittenPath(book, path), rateTable, groupBy, currencies }];
    });
  });
}

/** Puts the rows of a spreadsheet into the text of a book. @param problems receives those of the changed book */
function updateTable(
  table: PlacedTable,
  { sheet, text, problems }: { readonly sheet: PriceSheet; readonly text: string; readonly problems: string[] },
): { readonly text: string; readonly changes: readonly string[] } {
  const document = parseJsonDocument(text);
  const json = "value" in document ? document.value : undefined;
  const path = [...table.path, "rows"];
  const written = valueAt(json, path) as readonly unknown[];
  const hasNumbers = /"rate"\s*:\s*(?:\{\s*"\w*"\s*:\s*)?\d/.test(text);
  const columns = listColumns(table);
  const formerRows = table.rateTable.rows.map((row) => toCells(row, columns));
  const indexes = new Map(formerRows.map((cells, index) => [rowKey(cells, columns), index]));
  const rows = sheet.rows.map(({ cells: after }) => {
    const index = indexes.get(rowKey(after, columns)) ?? -1;
    const before = formerRows[index];
    const isSame = JSON.stringify(before) === JSON.stringify(after);
    const row = isSame ? undefined : toJsonRow(after, columns, { former: written[index], hasNumbers });
    return { index, before, after, json: row };
  });
  try {
    const newRows = rows.map(({ index, json: row }) => row ?? written[index]);
    parseBook(replaceAt(json, table.path, (former) => ({ ...former, rows: newRows })));
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    for (const problem of error.details.problems)
      problems.push(sheet.describeProblem(parsePath(problem.path).slice(table.path.length), problem));
  }
  const used = new Set(rows.map(({ index }) => index));
  const removed = formerRows.flatMap((before, index) => (used.has(index) ? [] : [{ before, after: undefined }]));
  const newText = replaceRows(text, path, rows);
  const changes = describeChanges([...rows, ...removed], columns);
  const same = newText === text ? "no prices changed" : "no prices changed, only the order of rows";
  return { text: newText, changes: changes.length === 0 ? [same] : changes };
}
