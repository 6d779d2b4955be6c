/** Form fields, and text values from a book. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import { valueAt } from "../../../book/short/json-object.ts";
import { groupThousands } from "../../../invoicing/format-values.ts";
import { isDecimalObject } from "../../../numbers/decimal.ts";
import { type FormPath, replaceValue } from "../../play/book-edits.ts";
import { currencySymbol } from "../../play/play-periods.ts";
import { readDecimal } from "../../play/typed-usage.ts";

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

interface NumberFieldProps {
  /** Gives screen readers the context too. */
  readonly label: string;
  readonly value: string;
  /** Of an amount. */
  readonly currency?: string | undefined;
  /** Whether the number may be left out. */
  readonly isOptional?: boolean;
  readonly placeholder?: string;
  readonly onValue: (text: string) => void;
}

/** A field for a number. A text that is none stays in the field, is marked, and changes nothing. */
export function NumberField({
  label,
  value,
  currency,
  isOptional = false,
  placeholder,
  onValue,
}: NumberFieldProps): JSX.Element {
  const [draft, setDraft] = useState<{ readonly text: string; readonly value: string } | undefined>();
  const [isFocused, setFocused] = useState(false);
  const text = draft?.value === value ? draft.text : value;
  const isValid = (candidate: string): boolean =>
    readDecimal(candidate) !== undefined || (isOptional && candidate.trim() === "");
  const input = (
    <input
      type="text"
      inputMode="decimal"
      class="figure"
      aria-label={label}
      aria-invalid={!isValid(text)}
      title={isValid(text) ? undefined : "Enter a number such as 0.25"}
      value={isFocused || !isValid(text) || !/^-?\d+(?:\.\d+)?$/.test(text) ? text : groupThousands(text)}
      onFocus={({ currentTarget }) => {
        // Without commas between thousands, and selected as the browser had done.
        currentTarget.value = text;
        currentTarget.select();
        setFocused(true);
      }}
      onBlur={() => setFocused(false)}
      placeholder={placeholder}
      onInput={({ currentTarget: { value: typed } }) => {
        setDraft(isValid(typed) ? undefined : { text: typed, value });
        if (isValid(typed)) onValue(typed);
      }}
    />
  );
  if (currency === undefined || currency === "") return input;
  return (
    <span class="money">
      <span aria-hidden="true">{currencySymbol(currency)}</span>
      {input}
    </span>
  );
}

/** A field with a caption for a value that may be absent. @param owner the path that an empty text removes; default `path` */
export function OptionalField({
  caption,
  owner,
  currency,
  ...form
}: FormProps & {
  readonly caption: string;
  readonly owner?: FormPath;
  readonly currency?: string | undefined;
}): JSX.Element {
  const { value, path, name, book, onBook } = form;
  return (
    <label class="field">
      {caption}
      <NumberField
        label={`${name}: ${caption.toLowerCase()}`}
        value={textAt(value, path)}
        currency={currency}
        isOptional
        placeholder="none"
        onValue={(text) =>
          onBook(text === "" ? replaceValue(book, owner ?? path, undefined) : replaceValue(book, path, text))
        }
      />
    </label>
  );
}

/** A check box for a value that is true or false. */
export function FlagField({
  value,
  path,
  name,
  book,
  onBook,
  children,
}: FormProps & { readonly children: ComponentChildren }): JSX.Element {
  return (
    <label class="flag">
      <input
        type="checkbox"
        aria-label={name}
        checked={valueAt(value, path) === true}
        onChange={({ currentTarget }) => onBook(replaceValue(book, path, currentTarget.checked))}
      />{" "}
      {children}
    </label>
  );
}

/** The text or number at a path; empty if absent. */
export function textAt(value: unknown, path: FormPath): string {
  const content = valueAt(value, path);
  if (typeof content === "string") return content;
  return typeof content === "number" || isDecimalObject(content) ? String(content) : "";
}
