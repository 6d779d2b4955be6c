/**
 * The cycles of an account on a line, and in words.
 *
 * @module
 */
import type { JSX } from "preact";

import type { PlayCycle, PlayCycles } from "../../play/play-cycles.ts";

/** So wide is the picture, in units of its own. */
const WIDTH = 1000;
const GAP = 1.5;

/** When cycles begin and end, what cuts them, and what of them is charged by days. */
export function Cycles({ cycles }: { readonly cycles: PlayCycles | undefined }): JSX.Element {
  return (
    <section aria-labelledby="cycles">
      <h2 id="cycles">Cycles</h2>
      {cycles === undefined && <p class="soft">No cycle of a plan in this time.</p>}
      {cycles?.terms.map(({ plan, words, cycles: own }, index) => (
        <div class="term-cycles" key={index}>
          <p>
            <strong>
              <bdi>{plan}</bdi>
            </strong>
            , {words}
          </p>
          <svg viewBox={`0 0 ${WIDTH} 16`} preserveAspectRatio="none" aria-hidden="true">
            {own.map((cycle, place) => (
              <Bar key={place} cycle={cycle} />
            ))}
          </svg>
          <p class="ends soft" aria-hidden="true">
            <span>{cycles.from}</span>
            <span>{cycles.until}</span>
          </p>
          <ol class="cycles">
            {own.map(({ words: said, isCut }, place) => (
              <li key={place} class={isCut ? "cut" : ""}>
                {said}
              </li>
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}

function Bar({ cycle: { start, end, servedStart, servedEnd } }: { readonly cycle: PlayCycle }): JSX.Element {
  const place = (from: number, until: number) => ({
    x: from * WIDTH + GAP,
    width: Math.max(1, (until - from) * WIDTH - 2 * GAP),
  });
  return (
    <>
      <rect class="natural" {...place(start, end)} y="1" height="14" />
      <rect class="served" {...place(servedStart, servedEnd)} y="1" height="14" />
    </>
  );
}
