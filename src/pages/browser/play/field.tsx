/** Form fields, and text values from a book. */
import type { JSX } from "preact";

import { valueAt } from "../../../book/short/json-object.ts";
import { isDecimalObject } from "../../../numbers/decimal.ts";
import { type FormPath, replaceValue } from "../../play/book-edits.ts";

/** The part of the book that a form edits. */
export interface FormProps {
  /** The parsed book. */
  readonly value: unknown;
  /** The path of the part. */
  readonly path: FormPath;
  readonly name: string;
  readonly book: string;
  readonly onBook: (book: string) => void;
}

/** A field whose label also gives screen readers its context. */
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

/** A field for the value at a path of the book. */
export function BookField({
  value,
  path,
  label,
  book,
  onBook,
}: Omit<FormProps, "name"> & { readonly label: string }): JSX.Element {
  return <Field label={label} value={textAt(value, path)} onValue={(text) => onBook(replaceValue(book, path, text))} />;
}

/** A field with a caption for a value that may be absent. @param owner the path that an empty text removes; default `path` */
export function OptionalField({
  caption,
  owner,
  ...form
}: FormProps & { readonly caption: string; readonly owner?: FormPath }): JSX.Element {
  const { value, path, name, book, onBook } = form;
  return (
    <label class="row">
      {caption}
      <Field
        label={`${name}: ${caption.toLowerCase()}`}
        value={textAt(value, path)}
        onValue={(text) =>
          onBook(text === "" ? replaceValue(book, owner ?? path, undefined) : replaceValue(book, path, text))
        }
      />
    </label>
  );
}

/** The text or number at a path; empty if absent. */
export function textAt(value: unknown, path: FormPath): string {
  const content = valueAt(value, path);
  if (typeof content === "string") return content;
  return typeof content === "number" || isDecimalObject(content) ? String(content) : "";
}
