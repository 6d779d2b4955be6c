/** A plan: its name, billing period and currency, and its items as cards; the plans of accounts, and their billing periods. */
import type { JSX } from "preact";

import { valueAt } from "../../../book/short/fields.ts";
import { changeInterval, editBook, type FormPath, listAt, textAt } from "../../play/book-edits.ts";
import { addItem, changeCurrency, listCurrencies, listItems, NEW_ITEMS } from "../../play/plan-items.ts";
import type { PlayCycle, PlayCycles } from "../../play/play-periods.ts";
import { bind, DayField, FlagField, type FormProps, SelectField, TextField } from "./field.tsx";
import { ItemCard } from "./item-card.tsx";
import type { PlayProps } from "./play.ts";

const INTERVALS = ["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"];
const CURRENCIES = ["USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "INR", "BRL", "SEK"];

interface PlanProps extends FormProps, PlayProps {
  /** Where the first account takes this plan; absent if it does not. */
  readonly since: FormPath | undefined;
}

export function PlanForm({ play, since, ...form }: PlanProps): JSX.Element {
  const { value, path, name, text, onText } = form;
  const planId = textAt(value, [...path, "id"]);
  const items = listItems(value, path);
  const addItemOf = (chosen: string): void => {
    const kind = NEW_ITEMS.find((each) => each === chosen);
    if (kind !== undefined) onText(editBook(text, (book) => addItem(book, path, kind)));
  };
  return (
    <>
      <div class="plan-head">
        <TextField class="plan-name" label="Plan name" {...bind(form, [...path, "name"])} />
        <CycleForm {...form} path={[...path, "pricePlanDetails", "pricingCycleConfig"]} />
        <CurrencyField {...form} />
        {since !== undefined && <DayField caption="Customer since" {...bind(form, since, since)} />}
      </div>
      {items.length === 0 && <p class="soft">The plan has no prices yet: add an item.</p>}
      {items.map((item) => (
        <ItemCard key={item.path.join(" ")} {...form} item={item} planId={planId} play={play} />
      ))}
      <div class="add-item">
        <SelectField
          label={`Add an item to ${name}`}
          value=""
          options={[["", "Add an item…"], ...NEW_ITEMS.map((kind) => [kind, kind] as const)]}
          onValue={addItemOf}
        />
      </div>
    </>
  );
}

function CycleForm(form: FormProps): JSX.Element {
  const { value, path, name, text, onText } = form;
  const isAnniversary = valueAt(value, [...path, "anniversaryCycle"]) === true;
  const interval = textAt(value, [...path, "interval"]);
  const hasMonth = interval !== "WEEKLY" && interval !== "MONTHLY";
  const offsets = [
    { part: "dayOffset", caption: "on day", label: "on day" },
    ...(hasMonth ? [{ part: "monthOffset", caption: "of month", label: "in month" }] : []),
  ];
  return (
    <>
      <SelectField
        caption="Billed"
        label={`${name}: billing period`}
        value={interval}
        options={INTERVALS.map((each) => [each, each.toLowerCase().replace("_", "-")])}
        onValue={(chosen) => onText(changeInterval(text, path, chosen))}
      />
      {offsets.map(({ part, caption, label }) => (
        <TextField
          key={part}
          class="short"
          caption={caption}
          label={`${name}: billing periods begin ${label}`}
          {...bind(form, [...path, "startOffset", part])}
          {...(isAnniversary ? { value: "", placeholder: "signup", disabled: true } : {})}
        />
      ))}
      <FlagField {...form} path={[...path, "anniversaryCycle"]} name="Starts on the signup date">
        from signup
      </FlagField>
    </>
  );
}

/** The currency of a book that has one. Prices keep their figures. */
function CurrencyField({ value, text, onText }: FormProps): JSX.Element {
  const currencies = listCurrencies(value);
  const [currency = "", ...others] = currencies;
  if (others.length > 0) {
    return (
      <span class="field">
        Currency <span class="fixed-value">{currencies.join(", ")}</span>
      </span>
    );
  }
  return (
    <SelectField
      caption="Currency"
      value={currency}
      options={[...new Set([currency, ...CURRENCIES])].map((each) => [each, each])}
      onValue={(next) => onText(editBook(text, (book) => changeCurrency(book, next)))}
    />
  );
}

/** Plans of accounts and their dates. */
export function AccountForm(form: FormProps): JSX.Element {
  const { value, path, name } = form;
  const plans = listAt(value, ["pricePlans"]).map((plan) => [textAt(plan, ["id"]), textAt(plan, ["name"])] as const);
  return (
    <fieldset>
      <legend>
        <bdi>{name}</bdi>
      </legend>
      {listAt(value, [...path, "pricePlans"]).map((_, index) => {
        const termPath = [...path, "pricePlans", index];
        const label = `${name}, plan ${index + 1}`;
        const plan = bind(form, [...termPath, "pricePlanId"]);
        const isKnown = plans.some(([id]) => id === plan.value);
        const [from, until] = [
          [...termPath, "effectiveFrom"],
          [...termPath, "effectiveUntil"],
        ];
        return (
          <div class="fields" key={index}>
            <SelectField
              {...plan}
              caption="Plan"
              label={`${label}: which`}
              options={isKnown ? plans : [[plan.value, plan.value], ...plans]}
            />
            <DayField caption="from" label={`${label}: from`} {...bind(form, from, from)} />
            <DayField caption="until" label={`${label}: until, exclusive`} {...bind(form, until, until)} />
          </div>
        );
      })}
    </fieldset>
  );
}

/** The width of the timeline in SVG units. */
const WIDTH = 1000;
const GAP = 1.5;

/** When billing periods start and end, what splits them, and what is prorated. */
export function Cycles({ cycles }: { readonly cycles: PlayCycles | undefined }): JSX.Element {
  return (
    <details>
      <summary>Billing periods</summary>
      <div class="all-cycles">
        {cycles === undefined && <p class="soft">No billing period in this range.</p>}
        {cycles?.terms.map(({ plan, description, cycles: termCycles }, index) => (
          <div class="term-cycles" key={index}>
            <p>
              <strong>
                <bdi>{plan}</bdi>
              </strong>
              , {description}
            </p>
            <svg viewBox={`0 0 ${WIDTH} 16`} preserveAspectRatio="none" aria-hidden="true">
              {termCycles.map((cycle, cycleIndex) => (
                <Bar key={cycleIndex} cycle={cycle} />
              ))}
            </svg>
            <p class="timeline-ends soft" aria-hidden="true">
              <span>{cycles.from}</span>
              <span>{cycles.until}</span>
            </p>
            <ol class="cycles">
              {termCycles.map(({ description: cycleDescription, isCut }, cycleIndex) => (
                <li key={cycleIndex} class={isCut ? "cut-cycle" : ""}>
                  {cycleDescription}
                </li>
              ))}
            </ol>
          </div>
        ))}
      </div>
    </details>
  );
}

function Bar({ cycle: { start, end, servedStart, servedEnd } }: { readonly cycle: PlayCycle }): JSX.Element {
  const toRectangle = (from: number, until: number) => ({
    x: from * WIDTH + GAP,
    width: Math.max(1, (until - from) * WIDTH - 2 * GAP),
  });
  return (
    <>
      <rect class="natural-cycle" {...toRectangle(start, end)} y="1" height="14" />
      <rect class="served-period" {...toRectangle(servedStart, servedEnd)} y="1" height="14" />
    </>
  );
}
