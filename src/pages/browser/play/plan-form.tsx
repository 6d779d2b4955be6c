/** A plan: its name, billing period and currency, and its items as cards. */
import type { JSX } from "preact";

import { valueAt } from "../../../book/short/json-object.ts";
import { changeInterval, editBook, type FormPath, listAt, replaceValue } from "../../play/book-edits.ts";
import { addItem, changeCurrency, listCurrencies, listItems, NEW_ITEMS } from "../../play/plan-items.ts";
import { FlagField, type FormProps, textAt } from "./field.tsx";
import { ItemCard, type ItemContext } from "./item-card.tsx";

const INTERVALS = ["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"];
const CURRENCIES = ["USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "INR", "BRL", "SEK"];

export interface PlanProps extends FormProps {
  readonly context: ItemContext;
  /** Where the first account takes this plan; absent if it does not. */
  readonly since: FormPath | undefined;
}

export function PlanForm({ context, since, ...form }: PlanProps): JSX.Element {
  const { value, path, name, book, onBook } = form;
  const planId = textAt(value, [...path, "id"]);
  const items = listItems(value, path);
  return (
    <>
      <div class="plan-head">
        <input
          type="text"
          class="plan-name"
          aria-label="Plan name"
          value={name}
          onInput={({ currentTarget }) => onBook(replaceValue(book, [...path, "name"], currentTarget.value))}
        />
        <CycleForm {...form} path={[...path, "pricePlanDetails", "pricingCycleConfig"]} />
        <CurrencyField {...form} />
        {since !== undefined && (
          <label class="field">
            Customer since
            <input
              type="date"
              value={textAt(value, since).slice(0, 10)}
              onChange={({ currentTarget }) => onBook(replaceValue(book, since, currentTarget.value || undefined))}
            />
          </label>
        )}
      </div>
      {items.length === 0 && <p class="soft">The plan has no prices yet: add an item.</p>}
      {items.map((item) => (
        <ItemCard key={item.path.join(" ")} {...form} item={item} planId={planId} context={context} />
      ))}
      <label class="add-item">
        <select
          aria-label={`Add an item to ${name}`}
          value=""
          onChange={({ currentTarget }) => {
            const kind = NEW_ITEMS.find((each) => each === currentTarget.value);
            currentTarget.value = "";
            if (kind !== undefined) onBook(editBook(book, (long) => addItem(long, path, kind)));
          }}
        >
          <option value="">Add an item…</option>
          {NEW_ITEMS.map((kind) => (
            <option key={kind} value={kind}>
              {kind}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

function CycleForm(form: FormProps): JSX.Element {
  const { value, path, name, book, onBook } = form;
  const [anniversaryPath, offsetPath] = [
    [...path, "anniversaryCycle"],
    [...path, "startOffset"],
  ];
  const isAnniversary = valueAt(value, anniversaryPath) === true;
  const interval = textAt(value, [...path, "interval"]);
  const months = interval === "WEEKLY" || interval === "MONTHLY" ? [] : (["monthOffset"] as const);
  return (
    <>
      <label class="field">
        Billed
        <select
          aria-label={`${name}: billing period`}
          value={interval}
          onChange={({ currentTarget }) => onBook(changeInterval(book, path, currentTarget.value))}
        >
          {INTERVALS.map((each) => (
            <option key={each} value={each}>
              {each.toLowerCase().replace("_", "-")}
            </option>
          ))}
        </select>
      </label>
      {(["dayOffset", ...months] as const).map((part) => (
        <label key={part} class="field">
          {part === "dayOffset" ? "on day" : "of month"}
          <input
            type="text"
            class="short"
            aria-label={`${name}: billing periods begin ${part === "dayOffset" ? "on day" : "in month"}`}
            value={isAnniversary ? "" : textAt(value, [...offsetPath, part])}
            placeholder={isAnniversary ? "signup" : undefined}
            disabled={isAnniversary}
            onInput={({ currentTarget }) => onBook(replaceValue(book, [...offsetPath, part], currentTarget.value))}
          />
        </label>
      ))}
      <FlagField {...form} path={anniversaryPath} name="Starts on the signup date">
        from signup
      </FlagField>
    </>
  );
}

/** The currency of a book that has one. Prices keep their figures. */
function CurrencyField({ value, book, onBook }: FormProps): JSX.Element {
  const currencies = listCurrencies(value);
  const [currency = "", ...others] = currencies;
  return (
    <label class="field">
      Currency
      {others.length > 0 ? (
        <span class="fixed-value">{currencies.join(", ")}</span>
      ) : (
        <select
          value={currency}
          onChange={({ currentTarget: { value: next } }) =>
            onBook(editBook(book, (long) => changeCurrency(long, next)))
          }
        >
          {[...new Set([currency, ...CURRENCIES])].map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      )}
    </label>
  );
}

/** Plans of accounts and their dates. */
export function AccountForm({ value, path, name, book, onBook }: FormProps): JSX.Element {
  const plans = listAt(value, ["pricePlans"]).map((plan) => [textAt(plan, ["id"]), textAt(plan, ["name"])] as const);
  return (
    <fieldset>
      <legend>
        <bdi>{name}</bdi>
      </legend>
      {listAt(value, [...path, "pricePlans"]).map((_, index) => {
        const planPath = [...path, "pricePlans", index];
        const rowLabel = `${name}, plan ${index + 1}`;
        const plan = textAt(value, [...planPath, "pricePlanId"]);
        return (
          <div class="term" key={index}>
            <select
              aria-label={`${rowLabel}: which`}
              value={plan}
              onChange={({ currentTarget }) =>
                onBook(replaceValue(book, [...planPath, "pricePlanId"], currentTarget.value))
              }
            >
              {plans.every(([id]) => id !== plan) && <option value={plan}>{plan}</option>}
              {plans.map(([id, planName]) => (
                <option key={id} value={id}>
                  {planName}
                </option>
              ))}
            </select>
            {(["effectiveFrom", "effectiveUntil"] as const).map((end) => (
              <label key={end}>
                {end === "effectiveFrom" ? "from" : "until"}{" "}
                <input
                  type="date"
                  aria-label={`${rowLabel}: ${end === "effectiveFrom" ? "from" : "until, exclusive"}`}
                  value={textAt(value, [...planPath, end]).slice(0, 10)}
                  onChange={({ currentTarget: { value: day } }) =>
                    onBook(replaceValue(book, [...planPath, end], day === "" ? undefined : day))
                  }
                />
              </label>
            ))}
          </div>
        );
      })}
    </fieldset>
  );
}
