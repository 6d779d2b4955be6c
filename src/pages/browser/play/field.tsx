/** Fields of forms: each shows a text and passes on what is typed, often the value at a path of a document. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import { valueAt } from "../../../book/short/fields.ts";
import { groupThousands } from "../../../invoicing/invoice-rows.ts";
import { type FormPath, replaceValue, textAt } from "../../play/book-edits.ts";
import { currencySymbol } from "../../play/play-periods.ts";
import { cleanFigure } from "../../play/table-grid.ts";
import { readDecimal } from "../../play/typed-usage.ts";

/** A document that forms edit as a text: the book, or the map of a file. */
interface FormDocument {
  /** The parsed text. */
  readonly value: unknown;
  readonly text: string;
  readonly onText: (text: string) => void;
}

/** The part of a document that a form edits. */
export interface FormProps extends FormDocument {
  readonly path: FormPath;
  readonly name: string;
}

/** What a field shows, and what it does with another text. */
export interface FieldValue {
  readonly value: string;
  readonly onValue: (text: string) => void;
}

interface FieldProps extends FieldValue {
  /** Gives screen readers the context too; default the caption. */
  readonly label?: string;
  readonly caption?: string;
}

/** The value at a path of a document, for a field. @param owner the path that an empty text removes */
export function bind({ value, text, onText }: FormDocument, path: FormPath, owner?: FormPath): FieldValue {
  const change = (typed: string): string =>
    typed === "" && owner !== undefined ? replaceValue(text, owner, undefined) : replaceValue(text, path, typed);
  return { value: textAt(value, path), onValue: (typed) => onText(change(typed)) };
}

function withCaption(caption: string | undefined, field: JSX.Element): JSX.Element {
  if (caption === undefined) return field;
  return (
    <label class="field">
      <bdi>{caption}</bdi>
      {field}
    </label>
  );
}

interface TextFieldProps extends FieldProps {
  readonly class?: string;
  readonly disabled?: boolean;
  readonly placeholder?: string;
  /** The id of a list of values to choose from. */
  readonly list?: string | undefined;
}

export function TextField({ label, caption, value, list, onValue, ...attributes }: TextFieldProps): JSX.Element {
  return withCaption(
    caption,
    <input
      {...attributes}
      type="text"
      {...(list === undefined ? {} : { list })}
      aria-label={label ?? caption}
      value={value}
      onInput={({ currentTarget }) => onValue(currentTarget.value)}
    />,
  );
}

interface DayFieldProps extends FieldProps {
  readonly min?: string;
  readonly max?: string;
  readonly required?: boolean;
}

/** A field for a day. One that it does not allow changes nothing. */
export function DayField({ label, caption, value, onValue, ...limits }: DayFieldProps): JSX.Element {
  return withCaption(
    caption,
    <input
      {...limits}
      type="date"
      aria-label={label ?? caption}
      value={value.slice(0, 10)}
      onChange={({ currentTarget }) => currentTarget.validity.valid && onValue(currentTarget.value)}
    />,
  );
}

/** A choice of values with their names. */
export function SelectField({
  label,
  caption,
  value,
  options,
  onValue,
}: FieldProps & { readonly options: readonly (readonly [value: string, name: string])[] }): JSX.Element {
  return withCaption(
    caption,
    <select
      aria-label={label ?? caption}
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = currentTarget.value;
        // Shows another value only if the form changes it, so that a menu of actions keeps its title.
        currentTarget.value = value;
        onValue(chosen);
      }}
    >
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>,
  );
}

interface NumberFieldProps extends FieldProps {
  /** Of an amount. */
  readonly currency?: string | undefined;
  /** Whether the number may be left out. */
  readonly isOptional?: boolean;
}

/** A field for a number. A text that is none stays in the field, is marked, and changes nothing. */
export function NumberField({
  label,
  caption,
  value,
  currency = "",
  isOptional = false,
  onValue,
}: NumberFieldProps): JSX.Element {
  const [draft, setDraft] = useState<{ readonly text: string; readonly value: string } | undefined>();
  const [isFocused, setFocused] = useState(false);
  const text = draft?.value === value ? draft.text : value;
  const isNumber = (candidate: string): boolean =>
    readDecimal(candidate) !== undefined || (isOptional && candidate.trim() === "");
  const isValid = isNumber(text);
  const input = (
    <input
      type="text"
      inputMode="decimal"
      class="figure"
      aria-label={label ?? caption}
      aria-invalid={!isValid}
      title={isValid ? undefined : "Enter a number such as 0.25"}
      value={isFocused || !isValid || !/^-?\d+(?:\.\d+)?$/.test(text) ? text : groupThousands(text)}
      onFocus={({ currentTarget }) => {
        // Without commas between thousands, and selected as the browser had done.
        currentTarget.value = text;
        currentTarget.select();
        setFocused(true);
      }}
      onBlur={() => setFocused(false)}
      placeholder={isOptional ? "none" : undefined}
      onInput={({ currentTarget }) => {
        const figure = cleanFigure(currentTarget.value);
        setDraft(isNumber(figure) ? undefined : { text: currentTarget.value, value });
        if (isNumber(figure)) onValue(figure);
      }}
    />
  );
  if (currency === "") return withCaption(caption, input);
  return withCaption(
    caption,
    <span class="money">
      <span aria-hidden="true">{currencySymbol(currency)}</span>
      {input}
    </span>,
  );
}

/** A check box for a value that is true or false. */
export function FlagField({
  value,
  path,
  name,
  text,
  onText,
  children,
}: FormProps & { readonly children: ComponentChildren }): JSX.Element {
  return (
    <label class="flag">
      <input
        type="checkbox"
        aria-label={name}
        checked={valueAt(value, path) === true}
        onChange={({ currentTarget }) => onText(replaceValue(text, path, currentTarget.checked))}
      />{" "}
      {children}
    </label>
  );
}

interface ButtonProps {
  /** For screen readers; default the text. */
  readonly label?: string;
  readonly onClick: () => void;
}

/** A button that looks like a link. */
export function LinkButton({
  label,
  onClick,
  children,
}: ButtonProps & { readonly children: ComponentChildren }): JSX.Element {
  return (
    <button type="button" class="link" aria-label={label} onClick={onClick}>
      {children}
    </button>
  );
}

export function RemoveButton({ label, onClick }: ButtonProps): JSX.Element {
  return (
    <button type="button" class="icon" aria-label={label} title="Remove" onClick={onClick}>
      ×
    </button>
  );
}
