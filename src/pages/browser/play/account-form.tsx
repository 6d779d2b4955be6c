/**
 * From when until when an account has which plan.
 *
 * @module
 */
import type { JSX } from "preact";

import { edited, listAt } from "../../play/plan-edit.ts";
import { type FormOf, textAt } from "./field.tsx";

/** The plans of an account, one after the other. */
export function AccountForm({ value, path, name, book, put }: FormOf): JSX.Element {
  const plans = listAt(value, ["pricePlans"]).map((plan) => [textAt(plan, ["id"]), textAt(plan, ["name"])] as const);
  return (
    <fieldset>
      <legend>
        <bdi>{name}</bdi>
      </legend>
      {listAt(value, [...path, "pricePlans"]).map((_, index) => {
        const at = [...path, "pricePlans", index];
        const of = `${name}, plan ${index + 1}`;
        const plan = textAt(value, [...at, "pricePlanId"]);
        return (
          <div class="term" key={index}>
            <select
              aria-label={`${of}: which`}
              value={plan}
              onChange={({ currentTarget }) => put(edited(book, [...at, "pricePlanId"], currentTarget.value))}
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
                  aria-label={`${of}: ${end === "effectiveFrom" ? "from" : "until, exclusive"}`}
                  value={textAt(value, [...at, end]).slice(0, 10)}
                  onChange={({ currentTarget: { value: day } }) =>
                    put(edited(book, [...at, end], day === "" ? undefined : day))
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
