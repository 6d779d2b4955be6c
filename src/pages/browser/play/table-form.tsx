/** A form for a price table: its rows as a grid that takes cells of a spreadsheet, and what holds for all rows. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import type { JsonObject } from "../../../book/short/fields.ts";
import { findWrittenPath, type FormPath, listAt, replaceValue, textAt } from "../../play/book-edits.ts";
import type { PlayProblem } from "../../play/play-bill.ts";
import {
  changeCell,
  type GridColumn,
  hasSeveralCells,
  listGridColumns,
  listGridRows,
  listRowProblems,
  type Paste,
  parsePastedCells,
  pasteCells,
  type RowProblem,
} from "../../play/table-grid.ts";
import { formatCount } from "../common/format.ts";
import { bind, type FormProps, NumberField, RemoveButton } from "./field.tsx";

/** A number in a table that holds for all rows. */
interface OptionalField {
  readonly caption: string;
  readonly field: FormPath;
  /** What an empty text removes; default the field. */
  readonly owner?: FormPath;
}

const LIMITS: readonly OptionalField[] = [
  { caption: "Minimum", field: ["minimum"] },
  { caption: "Maximum", field: ["maximum"] },
];

/** The maximum number of rows with fields. */
const ROWS_MAX = 200;

export function TableForm({
  problems,
  ...form
}: FormProps & { readonly problems: readonly PlayProblem[] }): JSX.Element {
  const { value, path, name, text: book, onText } = form;
  const [change, setChange] = useState<{ readonly message: string; readonly after: string } | undefined>();
  const rowsPath = [...path, "rateTable", "rows"];
  const rows = listGridRows(value, path);
  const columns = listGridColumns(value, path);
  const bookProblems = problems.flatMap(({ problem }) => problem ?? []);
  const rowProblems =
    bookProblems.length === 0
      ? new Map<number, readonly RowProblem[]>()
      : listRowProblems(bookProblems, findWrittenPath(book, rowsPath), columns);
  const setRows = (next: readonly JsonObject[], message?: string): void => {
    const after = replaceValue(book, rowsPath, next);
    if (message !== undefined) setChange({ message, after });
    onText(after);
  };
  const rates = columns.filter(({ path: [field] }) => field === "rate");
  const optionalFields: readonly OptionalField[] = [
    { caption: "Units of a rate", field: ["per"] },
    { caption: "Free units", field: ["allowance", "quantity"], owner: ["allowance"] },
    // Limits in several currencies are edited in the JSON.
    ...(rates.length === 1 ? LIMITS : []),
  ];
  const paste = (row: number, column: number, text: string): void => {
    const result = pasteCells(rows, columns, { row, column }, parsePastedCells(text));
    setRows(result.rows, describePaste(result));
  };
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${name}: price table`}>
        <table class="grid">
          <thead>
            <tr>
              <td />
              {columns.map(({ label, path: [field] }) => (
                <th scope="col" key={label} class={field === "rate" ? "number" : ""}>
                  <bdi>{label}</bdi>
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {/* A text in the empty row after the last one adds it. */}
            {[...rows, {}].slice(0, ROWS_MAX).map((row, index) => (
              <TableRow
                key={index}
                name={index === rows.length ? `${name}, new row` : `${name}, row ${index + 1}`}
                row={row}
                columns={columns}
                problems={rowProblems.get(index) ?? []}
                onRow={(next) => setRows(rows.toSpliced(index, 1, next))}
                onPaste={(column, text) => paste(index, column, text)}
              >
                {index < rows.length && (
                  <RemoveButton
                    label={`Remove ${name}, row ${index + 1}`}
                    onClick={() => setRows(rows.toSpliced(index, 1), `Row ${index + 1} removed.`)}
                  />
                )}
              </TableRow>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > ROWS_MAX && (
        <p class="soft">{`The first ${ROWS_MAX} of ${formatCount(rows.length, "row")}: the others are in book.jsonc.`}</p>
      )}
      <p role="status" class="soft small">
        {change?.after === book ? <bdi>{change.message}</bdi> : "Paste cells of a spreadsheet at any cell."}
      </p>
      <div class="fields">
        {optionalFields.map(({ caption, field, owner = field }) => (
          <NumberField
            key={caption}
            caption={caption}
            label={`${name}: ${caption.toLowerCase()}`}
            {...bind(form, [...path, "rateTable", ...field], [...path, "rateTable", ...owner])}
            isOptional
          />
        ))}
      </div>
    </>
  );
}

function describePaste({ changed, added, unknownColumns }: Paste): string {
  const counts = `${formatCount(changed, "row")} changed, ${formatCount(added, "row")} added.`;
  if (unknownColumns.length === 0) return counts;
  return `${counts} The table has no column ${unknownColumns.join(", ")}.`;
}

function describeProblem({ columns: [column, ...otherColumns], message }: RowProblem): string {
  return column === undefined || otherColumns.length > 0 ? message : `${column.label}: ${message}`;
}

const PLACEHOLDERS = { when: "any", from: "always", rate: "" } as const;

function TableRow({
  name,
  row,
  columns,
  problems,
  children,
  onRow,
  onPaste,
}: {
  readonly name: string;
  readonly row: JsonObject;
  readonly columns: readonly GridColumn[];
  readonly problems: readonly RowProblem[];
  readonly children: ComponentChildren;
  readonly onRow: (row: JsonObject) => void;
  readonly onPaste: (column: number, text: string) => void;
}): JSX.Element {
  const tierCount = listAt(row, ["tiers"]).length + listAt(row, ["volumeTiers"]).length;
  return (
    <>
      <tr>
        <td />
        {columns.map((column, index) => {
          const [field] = column.path;
          // Tiers are edited in the JSON.
          const hasTiers = field === "rate" && tierCount > 0;
          return (
            <td key={column.label}>
              <input
                type="text"
                size={8}
                class={field === "rate" ? "number" : ""}
                aria-label={`${name}: ${column.label}`}
                aria-invalid={problems.some((problem) => problem.columns.includes(column))}
                placeholder={PLACEHOLDERS[field]}
                readOnly={hasTiers}
                value={hasTiers ? formatCount(tierCount, "tier") : textAt(row, column.path)}
                onInput={({ currentTarget }) => onRow(changeCell(row, column, currentTarget.value))}
                onPaste={(event) => {
                  const text = event.clipboardData?.getData("text/plain") ?? "";
                  if (!hasSeveralCells(text)) return;
                  event.preventDefault();
                  onPaste(index, text);
                }}
              />
            </td>
          );
        })}
        <td>{children}</td>
      </tr>
      {problems.map((problem, index) => (
        <tr key={`problem ${index}`} class="bad">
          <td />
          <td colSpan={columns.length}>
            <bdi>{describeProblem(problem)}</bdi>
          </td>
        </tr>
      ))}
    </>
  );
}
