/**
 * A form for the plans of an account and their dates.
 *
 * @module
 */
import type { JSX } from "preact";

import { replaceValue, listAt } from "../../play/book-edits.ts";
import { type FormProps, textAt } from "./field.tsx";

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
