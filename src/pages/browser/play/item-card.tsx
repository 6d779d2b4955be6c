/** An item of a plan: its prices beside its own usage, and its sum on the invoice. */
import type { JSX } from "preact";

import { valueAt } from "../../../book/short/json-object.ts";
import { groupThousands } from "../../../invoicing/format-values.ts";
import {
  addSlab,
  editBook,
  type FormPath,
  listAt,
  moveSlabStart,
  removeLastSlab,
  replaceValue,
} from "../../play/book-edits.ts";
import { curveKey } from "../../play/cost-curve.ts";
import { type PlanItem, removeItem } from "../../play/plan-items.ts";
import type { PlayProblem } from "../../play/play-bill.ts";
import type { PlayPeriod } from "../../play/play-periods.ts";
import { formatCount } from "../common/format.ts";
import { FlagField, type FormProps, NumberField, OptionalField, textAt } from "./field.tsx";
import { TableForm } from "./table-form.tsx";
import { SeatsForm, UsageForm, type UsageProps } from "./usage-form.tsx";

/** What cards show besides the book. */
export interface ItemContext extends Omit<UsageProps, "name" | "id" | "item" | "upTo"> {
  readonly problems: readonly PlayProblem[];
  readonly period: PlayPeriod;
  /** The largest quantities of curves, by {@link curveKey}. */
  readonly findUpTo: (key: string) => string | undefined;
  /** The key of the curve that is shown. */
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
}

interface CardProps extends FormProps {
  readonly item: PlanItem;
  readonly planId: string;
  readonly context: ItemContext;
}

/** The maximum number of slabs with fields. */
const SLABS_MAX = 100;

export function ItemCard({ item, planId, context, ...form }: CardProps): JSX.Element {
  const { key, name, kind, path, form: kindOfForm, id, source } = item;
  const curve = curveKey(planId, key);
  const upTo = context.findUpTo(curve);
  const isSelected = context.selected === curve && upTo !== undefined;
  const cardForm = { ...form, path, name };
  const amount = context.period.items[key]?.amount.text;
  const currency = textAt(form.value, [...path, "rateValues", 0, "currency"]);
  const hasBody = kindOfForm === "slabs" || kindOfForm === "table";
  const select = (): void => {
    if (upTo !== undefined && !isSelected) context.onSelect(curve);
  };
  return (
    <article class={`plan-item${isSelected ? " on" : ""}`} aria-label={name} onFocusIn={select} onClick={select}>
      <header>
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <span class="kind">{kind}</span>
        {kindOfForm === "amount" && (
          <NumberField
            label={`${name}: amount`}
            value={textAt(form.value, [...path, "rateValues", 0, "rate"])}
            currency={currency}
            onValue={(text) => form.onBook(replaceValue(form.book, [...path, "rateValues", 0, "rate"], text))}
          />
        )}
        {path.includes("fixedFeeRateCards") && <ProrationField {...cardForm} />}
        <span class="item-sum number">{amount ?? "–"}</span>
        <button
          type="button"
          class="icon"
          aria-label={`Remove ${name} from the plan`}
          title="Remove from the plan"
          onClick={() => form.onBook(editBook(form.book, (long) => removeItem(long, item)))}
        >
          ×
        </button>
      </header>
      {hasBody && (
        <div class="item-body">
          <div class="prices">
            {kindOfForm === "table" ? (
              <TableForm {...cardForm} problems={context.problems} />
            ) : (
              <SlabForm {...cardForm} currency={currency} />
            )}
          </div>
          <div class="use">
            {source === "licenses" && <SeatsForm {...cardForm} licenseId={id} from={context.period.from} />}
            {(source === "usage" || source === "events") && (
              <UsageForm {...context} name={name} id={id} upTo={upTo} item={context.period.items[key]} />
            )}
            {source === "none" && <p class="soft">{context.period.label}</p>}
          </div>
        </div>
      )}
    </article>
  );
}

/** Whether partial billing periods are prorated. */
function ProrationField({ path, name, ...form }: FormProps): JSX.Element {
  return (
    <FlagField {...form} path={[...path, "enableProration"]} name={`${name}: prorate partial periods`}>
      prorate
    </FlagField>
  );
}

function SlabForm({ currency, ...form }: FormProps & { readonly currency: string }): JSX.Element {
  const { value, path, name, book, onBook } = form;
  const modelPath = [...path, "ratePlan", "pricingModel"];
  const boundsPath = [...path, "rateValues", 0, "rateConfig"];
  const slabs = listAt(value, [...path, "ratePlan", "slabs"]);
  return (
    <>
      <table class="tiers">
        <thead>
          <tr>
            <th scope="col" colSpan={2}>
              Units
            </th>
            <th scope="col" class="number">
              Price
            </th>
            <th scope="col">
              <span class="hidden-text">Price for</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {slabs.slice(0, SLABS_MAX).map((_, index) => (
            <SlabRow key={index} {...form} index={index} count={slabs.length} currency={currency} />
          ))}
        </tbody>
      </table>
      {slabs.length > SLABS_MAX && (
        <p class="soft">{`The first ${SLABS_MAX} of ${formatCount(slabs.length, "tier")}: the others are in book.jsonc.`}</p>
      )}
      <div class="actions">
        <button
          type="button"
          class="link"
          aria-label={`Add a tier to ${name}`}
          onClick={() => onBook(addSlab(book, path))}
        >
          Add a tier
        </button>
        {slabs.length > 1 && (
          <button
            type="button"
            class="link"
            aria-label={`Remove last tier of ${name}`}
            onClick={() => onBook(removeLastSlab(book, path))}
          >
            Remove last tier
          </button>
        )}
        <details>
          <summary aria-label={`More about ${name}`}>More</summary>
          <div class="fields">
            <label class="field">
              Tiers
              <select
                aria-label={`${name}: pricing`}
                value={textAt(value, modelPath)}
                onChange={({ currentTarget }) => onBook(replaceValue(book, modelPath, currentTarget.value))}
              >
                <option value="TIERED">graduated</option>
                <option value="VOLUME">volume</option>
              </select>
            </label>
            <OptionalField {...form} caption="Minimum" currency={currency} path={[...boundsPath, "minimumRate"]} />
            <OptionalField {...form} caption="Maximum" currency={currency} path={[...boundsPath, "maximumRate"]} />
            {path.includes("licenseRateCards") && <ProrationField {...form} />}
          </div>
        </details>
      </div>
    </>
  );
}

interface SlabRowProps extends FormProps {
  readonly index: number;
  readonly count: number;
  readonly currency: string;
}

function SlabRow({ index, count, currency, ...form }: SlabRowProps): JSX.Element {
  const { value, path, name, book, onBook } = form;
  const slabsPath: FormPath = [...path, "ratePlan", "slabs"];
  const slabPath = [...slabsPath, index];
  const ratePath = [...path, "rateValues", 0, "slabRates", index, "rate"];
  const sizePath = [...slabPath, "slabConfig", "packageSize"];
  const type = textAt(value, [...slabPath, "priceType"]);
  const rowLabel = `${name}, tier ${index + 1}`;
  const isLast = index === count - 1;
  const rate = textAt(value, ratePath);
  return (
    <tr>
      <td class="before">{count === 1 ? "all" : isLast ? "above" : "up to"}</td>
      <td>
        {!isLast && (
          <NumberField
            label={`${rowLabel}: up to`}
            value={textAt(value, [...slabsPath, index + 1, "startAfter"])}
            onValue={(text) => onBook(moveSlabStart(book, path, index + 1, text))}
          />
        )}
        {isLast && count > 1 && (
          <span class="figure-text">{groupThousands(textAt(value, [...slabPath, "startAfter"]))}</span>
        )}
      </td>
      <td>
        <NumberField
          label={`${rowLabel}: rate`}
          value={rate}
          currency={currency}
          onValue={(text) => onBook(replaceValue(book, ratePath, text))}
        />
      </td>
      <td class="after">
        <select
          aria-label={`${rowLabel}: price`}
          value={type}
          onChange={({ currentTarget: { value: chosenType } }) => {
            const next = replaceValue(book, [...slabPath, "priceType"], chosenType);
            const isNew = chosenType === "PACKAGE" && valueAt(value, sizePath) === undefined;
            onBook(isNew ? replaceValue(next, sizePath, "100") : next);
          }}
        >
          <option value="PER_UNIT">{Number(rate) === 0 && rate !== "" ? "free" : "each"}</option>
          <option value="PACKAGE">per package</option>
          <option value="FLAT">in all</option>
        </select>
        {type === "PACKAGE" && (
          <>
            {" of "}
            <NumberField
              label={`${rowLabel}: package size`}
              value={textAt(value, sizePath)}
              onValue={(text) => onBook(replaceValue(book, sizePath, text))}
            />
          </>
        )}
      </td>
    </tr>
  );
}
