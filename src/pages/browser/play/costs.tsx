/**
 * What a plan costs as usage grows: its curves, and what a card comes to at a quantity.
 *
 * @module
 */
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { CardCosts, CostPoint } from "../../play/card-costs.ts";
import type { PlayChart } from "../../play/play-bill.ts";
import { useWidth } from "../look/width.ts";

/** A chart is no wider than this, in pixels. */
const CHART_WIDTH_MAX = 720;

/** The plans, one after the other. A picture has no way into the page, whatever is in a name. */
export function Costs({ charts }: { readonly charts: readonly PlayChart[] }): JSX.Element {
  return (
    <section aria-labelledby="costs">
      <h2 id="costs">Cost as usage grows</h2>
      {charts.map((chart, index) => (
        <div class="plan-costs" key={index}>
          <Chart chart={chart} />
          <div>
            {chart.cards.map((card, place) => (
              <CardCost key={place} card={card} />
            ))}
          </div>
        </div>
      ))}
    </section>
  );
}

/** The curves in the width that there is. */
function Chart({ chart: { name, drawn } }: { readonly chart: PlayChart }): JSX.Element {
  const [figure, width] = useWidth(CHART_WIDTH_MAX);
  const { svg, description } = useMemo(() => drawn(Math.min(width, CHART_WIDTH_MAX)), [drawn, width]);
  return (
    <figure ref={figure}>
      <img
        src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`}
        alt={`What ${name} costs. ${description}.`}
      />
    </figure>
  );
}

/** A card at the quantity that is asked for, and at the edges of its slabs. */
function CardCost({ card }: { readonly card: CardCosts }): JSX.Element {
  const { name, currency, upTo, edges } = card;
  const [typed, setTyped] = useState<string | undefined>();
  const quantity = typed ?? card.quantity;
  const here = card.at(quantity);
  const most = Number(upTo);
  return (
    <div class="panel card-cost">
      <h3>
        <bdi>{name}</bdi>
      </h3>
      <div class="row">
        <label>
          At{" "}
          <input
            type="text"
            inputMode="decimal"
            class="figure"
            aria-label={`${name}: cost at`}
            value={quantity}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </label>
        {Number.isFinite(most) && (
          <input
            type="range"
            aria-label={`${name}: cost at, slider`}
            min={0}
            max={most}
            step={most > 200 ? Math.round(most / 200) : "any"}
            value={Math.min(most, Number(quantity) || 0)}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        )}
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${name}: cost`}>
        <table>
          <thead>
            <tr>
              {["Units", currency, "Each on average", "The next one", "Whole cycle"].map((head) => (
                <th scope="col" class="number" key={head}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {here === undefined ? (
              <tr class="here">
                <td colSpan={5}>{`${quantity.slice(0, 60)} is no quantity that can be priced.`}</td>
              </tr>
            ) : (
              <CostRow point={here} isHere />
            )}
            {edges.map((point) => (
              <CostRow key={point.quantity} point={point} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function CostRow({ point, isHere = false }: { readonly point: CostPoint; readonly isHere?: boolean }): JSX.Element {
  const { quantity, amount, average = "–", next, total = "–" } = point;
  return (
    <tr class={isHere ? "here" : ""}>
      {[quantity, amount, average, next, total].map((text, index) => (
        <td class="number" key={index}>
          {text}
        </td>
      ))}
    </tr>
  );
}
