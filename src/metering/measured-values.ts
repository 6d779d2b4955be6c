/** What an event measured, for people (S19.2). */
import type { Decimal } from "../numbers/decimal.ts";
import { decimalOfExact, isZeroExact } from "../numbers/exact.ts";
import type { SchemaProgram } from "./compile-metering.ts";
import { measuredQuantity, MOMENT_KEY } from "./measure-keys.ts";
import type { Units } from "./measure-units.ts";

/** What an event added to its meters, by place; sums of 0 are omitted. For a meter with keys, the value (S19.2). */
export function listMeasured(
  { measure, meters, slots: { texts } }: SchemaProgram,
  units: Units,
): readonly { readonly place: number; readonly quantity: Decimal }[] {
  return units.flatMap((exact, place) => {
    const [meter, { keySlot } = {}] = [meters[place], measure.places[place]];
    if (exact === undefined || meter === undefined) return [];
    const key = keySlot === undefined ? undefined : texts[keySlot];
    if (key === MOMENT_KEY || (key === undefined && isZeroExact(exact))) return [];
    return [
      {
        place,
        quantity: measuredQuantity(meter, { quantity: decimalOfExact(exact), ...(key !== undefined && { key }) }),
      },
    ];
  });
}
