/** An item of a plan: its prices beside its own usage, and its sum on the invoice. */
import type { JSX } from "preact";

import { valueAt } from "../../../book/short/fields.ts";
import { groupThousands } from "../../../invoicing/invoice-rows.ts";
import {
  addSlab,
  editBook,
  listAt,
  moveSlabStart,
  removeLastSlab,
  replaceValue,
  textAt,
} from "../../play/book-edits.ts";
import { curveKey } from "../../play/cost-curve.ts";
import { type PlanItem, removeItem } from "../../play/plan-items.ts";
import { TableHead } from "../common/data-table.tsx";
import { formatCount } from "../common/format.ts";
import { bind, FlagField, type FormProps, LinkButton, NumberField, RemoveButton, SelectField } from "./field.tsx";
import type { PlayProps } from "./play.ts";
import { TableForm } from "./table-form.tsx";
import { SeatsForm, UsageForm } from "./usage-form.tsx";

interface CardProps extends FormProps, PlayProps {
  readonly item: PlanItem;
  readonly planId: string;
}

/** The maximum number of slabs with fields. */
const SLABS_MAX = 100;

export function ItemCard({ item, planId, play, ...planForm }: CardProps): JSX.Element {
  const { key, name, kind, path, form: kindOfForm, id, source } = item;
  const curve = curveKey(planId, key);
  const upTo = play.bill.curves.get(curve)?.upTo;
  const isSelected = play.curve === curve && upTo !== undefined;
  const form = { ...planForm, path, name };
  const period = play.period.items[key];
  const currency = textAt(form.value, [...path, "rateValues", 0, "currency"]);
  const select = (): void => {
    if (upTo !== undefined && !isSelected) play.selectCurve(curve);
  };
  return (
    <article class={`plan-item${isSelected ? " on" : ""}`} aria-label={name} onFocusIn={select} onClick={select}>
      <header class="item-head">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <span class="kind">{kind}</span>
        {kindOfForm === "amount" && (
          <NumberField
            label={`${name}: amount`}
            {...bind(form, [...path, "rateValues", 0, "rate"])}
            currency={currency}
          />
        )}
        {path.includes("fixedFeeRateCards") && <ProrationField {...form} />}
        <span class="item-sum number">{period?.amount.text ?? "–"}</span>
        <RemoveButton
          label={`Remove ${name} from the plan`}
          onClick={() => form.onText(editBook(form.text, (book) => removeItem(book, item)))}
        />
      </header>
      {(kindOfForm === "slabs" || kindOfForm === "table") && (
        <div class="item-body">
          <div class="prices">
            {kindOfForm === "table" ? (
              <TableForm {...form} problems={play.problems} />
            ) : (
              <SlabForm {...form} currency={currency} />
            )}
          </div>
          <div class="use">
            {source === "licenses" && <SeatsForm {...form} licenseId={id} from={play.period.from} />}
            {(source === "usage" || source === "events") && (
              <UsageForm play={play} name={name} id={id} upTo={upTo} item={period} />
            )}
            {source === "none" && <p class="soft">{play.period.label}</p>}
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

type SlabProps = FormProps & { readonly currency: string };

function SlabForm({ currency, ...form }: SlabProps): JSX.Element {
  const { value, path, name, text, onText } = form;
  const limitPath = [...path, "rateValues", 0, "rateConfig"];
  const count = listAt(value, [...path, "ratePlan", "slabs"]).length;
  const limits = [
    { caption: "Minimum", field: "minimumRate" },
    { caption: "Maximum", field: "maximumRate" },
  ];
  return (
    <>
      <table class="tiers">
        <TableHead
          columns={[
            { label: "Units", span: 2 },
            { label: "Price", class: "number" },
            { label: <span class="hidden-text">Price for</span> },
          ]}
        />
        <tbody>
          {Array.from({ length: Math.min(count, SLABS_MAX) }, (_, index) => (
            <SlabRow key={index} {...form} index={index} count={count} currency={currency} />
          ))}
        </tbody>
      </table>
      {count > SLABS_MAX && (
        <p class="soft">{`The first ${SLABS_MAX} of ${formatCount(count, "tier")}: the others are in book.jsonc.`}</p>
      )}
      <div class="actions">
        <LinkButton label={`Add a tier to ${name}`} onClick={() => onText(addSlab(text, path))}>
          Add a tier
        </LinkButton>
        {count > 1 && (
          <LinkButton label={`Remove last tier of ${name}`} onClick={() => onText(removeLastSlab(text, path))}>
            Remove last tier
          </LinkButton>
        )}
        <details>
          <summary aria-label={`More about ${name}`}>More</summary>
          <div class="fields">
            <SelectField
              caption="Tiers"
              label={`${name}: pricing`}
              {...bind(form, [...path, "ratePlan", "pricingModel"])}
              options={[
                ["TIERED", "graduated"],
                ["VOLUME", "volume"],
              ]}
            />
            {limits.map(({ caption, field }) => (
              <NumberField
                key={field}
                caption={caption}
                label={`${name}: ${caption.toLowerCase()}`}
                {...bind(form, [...limitPath, field], [...limitPath, field])}
                currency={currency}
                isOptional
              />
            ))}
            {path.includes("licenseRateCards") && <ProrationField {...form} />}
          </div>
        </details>
      </div>
    </>
  );
}

function SlabRow({
  index,
  count,
  currency,
  ...form
}: SlabProps & { readonly index: number; readonly count: number }): JSX.Element {
  const { value, path, name, text, onText } = form;
  const slabPath = [...path, "ratePlan", "slabs", index];
  const startOf = (at: number): string => textAt(value, [...path, "ratePlan", "slabs", at, "startAfter"]);
  const sizePath = [...slabPath, "slabConfig", "packageSize"];
  const typePath = [...slabPath, "priceType"];
  const rate = bind(form, [...path, "rateValues", 0, "slabRates", index, "rate"]);
  const type = textAt(value, typePath);
  const label = `${name}, tier ${index + 1}`;
  const isLast = index === count - 1;
  const setType = (chosen: string): void => {
    const next = replaceValue(text, typePath, chosen);
    const isNewSize = chosen === "PACKAGE" && valueAt(value, sizePath) === undefined;
    onText(isNewSize ? replaceValue(next, sizePath, "100") : next);
  };
  return (
    <tr>
      <td class="before">{count === 1 ? "all" : isLast ? "above" : "up to"}</td>
      <td>
        {!isLast && (
          <NumberField
            label={`${label}: up to`}
            value={startOf(index + 1)}
            onValue={(typed) => onText(moveSlabStart(text, path, index + 1, typed))}
          />
        )}
        {isLast && count > 1 && <span class="figure-text">{groupThousands(startOf(index))}</span>}
      </td>
      <td>
        <NumberField label={`${label}: rate`} {...rate} currency={currency} />
      </td>
      <td class="after">
        <SelectField
          label={`${label}: price`}
          value={type}
          options={[
            ["PER_UNIT", Number(rate.value) === 0 && rate.value !== "" ? "free" : "each"],
            ["PACKAGE", "per package"],
            ["FLAT", "in all"],
          ]}
          onValue={setType}
        />
        {type === "PACKAGE" && (
          <>
            {" of "}
            <NumberField label={`${label}: package size`} {...bind(form, sizePath)} />
          </>
        )}
      </td>
    </tr>
  );
}
