/** When billing periods start and end, what splits them, and what is prorated. */
import type { JSX } from "preact";

import type { PlayCycle, PlayCycles } from "../../play/play-periods.ts";

/** The width of the timeline in SVG units. */
const WIDTH = 1000;
const GAP = 1.5;

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
