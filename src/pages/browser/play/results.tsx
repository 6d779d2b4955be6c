/** The results: invoices, what the plan costs as usage grows, and the billing periods. */
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { PageRow } from "../../invoice/invoice-lines.ts";
import type { PlayBill, PlayInvoice, PlayChart, CardCosts, CostPoint } from "../../play/play-bill.ts";
import type { PlayCycle, PlayCycles } from "../../play/play-cycles.ts";
import { useWidth } from "../common/charts.tsx";
import { TableHead } from "../common/data-table.tsx";
import { formatCount } from "../common/format.ts";
import { Field } from "./field.tsx";

/** The maximum number of invoices shown. */
const INVOICES_MAX = 50;

/** The invoices, updated live. */
export function Invoices({ bill: { invoices, problems } }: { readonly bill: PlayBill }): JSX.Element {
  return (
    <section class="panel" aria-labelledby="invoices">
      <h2 id="invoices">Invoice</h2>
      <div aria-live="polite">
        {invoices.length === 0 && (
          <p class="soft">
            {problems.length > 0
              ? "There is a problem with the plan or the usage."
              : "No usage yet: add usage or drop a file."}
          </p>
        )}
        <InvoiceTables invoices={invoices} />
      </div>
    </section>
  );
}

/** Invoice tables, up to the maximum. */
export function InvoiceTables({ invoices }: { readonly invoices: readonly PlayInvoice[] }): JSX.Element {
  return (
    <>
      {invoices.length > INVOICES_MAX && (
        <p class="soft">{`The first ${INVOICES_MAX} of ${formatCount(invoices.length, "invoice")}:`}</p>
      )}
      {invoices.slice(0, INVOICES_MAX).map((invoice, index) => (
        <InvoiceTable key={index} invoice={invoice} />
      ))}
    </>
  );
}

function InvoiceTable({ invoice: { title, rows, notices } }: { readonly invoice: PlayInvoice }): JSX.Element {
  return (
    <>
      <table class="invoice">
        <caption>
          <bdi>{title}</bdi>
        </caption>
        <tbody>
          {rows.map((row, index) => (
            <Row key={index} row={row} />
          ))}
        </tbody>
      </table>
      {notices.map((notice) => (
        <p key={notice} class="bad">
          <bdi>{notice}</bdi>
        </p>
      ))}
    </>
  );
}

function Row({ row: { kind, label, quantity, rate, amount } }: { readonly row: PageRow }): JSX.Element {
  if (kind === "note") {
    return (
      <tr class="note">
        <td colSpan={2}>
          <bdi>{label}</bdi>
        </td>
      </tr>
    );
  }
  const figures = [quantity, rate].filter((figure) => figure !== undefined).join(" × ");
  return (
    <tr class={kind}>
      <th scope="row">
        <bdi>{label}</bdi>
        {figures !== "" && <span class="figures">{figures}</span>}
      </th>
      <td class="number">{amount}</td>
    </tr>
  );
}

/** The maximum width of a chart in pixels. */
const CHART_WIDTH_MAX = 720;

/** Charts of the plans. Names can't inject markup, because a chart is an image. */
export function Costs({ charts }: { readonly charts: readonly PlayChart[] }): JSX.Element | null {
  if (charts.length === 0) return null;
  return (
    <section aria-labelledby="costs">
      <h2 id="costs">Cost by quantity</h2>
      {charts.map((chart, index) => (
        <div class="plan-costs" key={index}>
          <Chart chart={chart} />
          <div>
            {chart.cards.map((card, cardIndex) => (
              <CardCost
                key={cardIndex}
                card={card}
                label={charts.length > 1 ? `${chart.name}, ${card.name}` : card.name}
              />
            ))}
          </div>
        </div>
      ))}
    </section>
  );
}

/** The curves at the available width. */
function Chart({ chart: { name, draw } }: { readonly chart: PlayChart }): JSX.Element {
  const [figure, width] = useWidth(CHART_WIDTH_MAX);
  const { svg, description } = useMemo(() => draw(Math.min(width, CHART_WIDTH_MAX)), [draw, width]);
  return (
    <figure ref={figure}>
      <img
        src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`}
        alt={`What ${name} costs. ${description}.`}
      />
    </figure>
  );
}

/** A card's price at a chosen quantity, and at its slab edges. @param label unique among all plans */
function CardCost({ card, label }: { readonly card: CardCosts; readonly label: string }): JSX.Element {
  const { name, currency, upTo, edges } = card;
  const [typedQuantity, setTypedQuantity] = useState<string | undefined>();
  const quantity = typedQuantity ?? card.quantity;
  const currentPoint = card.costAt(quantity);
  const maxQuantity = Number(upTo);
  return (
    <div class="panel card-cost">
      <h3>
        <bdi>{name}</bdi>
      </h3>
      <div class="row">
        <label>
          At <Field label={`${label}: cost at`} value={quantity} onValue={setTypedQuantity} />
        </label>
        {Number.isFinite(maxQuantity) && (
          <input
            type="range"
            aria-label={`${label}: cost at, slider`}
            min={0}
            max={maxQuantity}
            step={maxQuantity > 200 ? Math.round(maxQuantity / 200) : "any"}
            value={Math.min(maxQuantity, Number(quantity) || 0)}
            onInput={({ currentTarget }) => setTypedQuantity(currentTarget.value)}
          />
        )}
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${label}: cost`}>
        <table>
          <TableHead
            columns={["Units", currency, "Average per unit", "Next unit", "Billing period total"].map((column) => ({
              label: column,
              class: "number",
            }))}
          />
          <tbody>
            {currentPoint === undefined ? (
              <tr class="current">
                <td colSpan={5}>{`${quantity.slice(0, 60)} is not a valid quantity.`}</td>
              </tr>
            ) : (
              <CostRow point={currentPoint} isCurrent />
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

function CostRow({
  point,
  isCurrent = false,
}: {
  readonly point: CostPoint;
  readonly isCurrent?: boolean;
}): JSX.Element {
  const { quantity, amount, average = "–", next, total = "–" } = point;
  return (
    <tr class={isCurrent ? "current" : ""}>
      {[quantity, amount, average, next, total].map((text, index) => (
        <td class="number" key={index}>
          {text}
        </td>
      ))}
    </tr>
  );
}

/** The width of the timeline in SVG units. */
const WIDTH = 1000;
const GAP = 1.5;

/** When cycles start and end, what splits them, and what is prorated. */
export function Cycles({ cycles }: { readonly cycles: PlayCycles | undefined }): JSX.Element {
  return (
    <section aria-labelledby="cycles">
      <h2 id="cycles">Billing periods</h2>
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
    </section>
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
