/**
 * Parts of the forms: a field for a number, and texts out of a book.
 *
 * @module
 */
import type { JSX } from "preact";

import { isDecimalObject } from "../../../numbers/decimal.ts";
import { type FormPath, valueAt } from "../../play/book-edits.ts";

/** The part of the book that a form changes. */
export interface FormProps {
  /** The value of the book's text. */
  readonly value: unknown;
  /** Where the part is. */
  readonly path: FormPath;
  readonly name: string;
  readonly book: string;
  readonly onBook: (book: string) => void;
}

/** A field whose label is read to those who do not see what stands beside it. */
export function Field({
  label,
  value,
  disabled = false,
  onValue,
}: {
  readonly label: string;
  readonly value: string;
  readonly disabled?: boolean;
  readonly onValue: (text: string) => void;
}): JSX.Element {
  return (
    <input
      type="text"
      inputMode="decimal"
      class="figure"
      aria-label={label}
      value={value}
      disabled={disabled}
      onInput={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
}

/** The text or the number at a path; empty where there is none. */
export function textAt(value: unknown, path: FormPath): string {
  const content = valueAt(value, path);
  if (typeof content === "string") return content;
  return typeof content === "number" || isDecimalObject(content) ? String(content) : "";
}
