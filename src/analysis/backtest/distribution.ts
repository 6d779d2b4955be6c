/**
 * The distribution of differences over accounts.
 *
 * @module
 */
import { type Decimal, ZERO } from "../../numbers/decimal.ts";

/** One account's difference. */
interface AccountDifference {
  readonly accountId: string;
  readonly difference: Decimal;
}

/** The distribution of differences over accounts of one currency. */
export interface Distribution {
  /** The number of accounts that would pay more, the same and less. */
  readonly more: number;
  readonly same: number;
  readonly less: number;
  /** Quantiles by nearest rank, not interpolated: `percent` of the accounts have at most this difference. */
  readonly quantiles: readonly { readonly percent: number; readonly difference: Decimal }[];
  /** The ten largest increases, largest first. */
  readonly increases: readonly AccountDifference[];
  /** The ten largest decreases, largest first. */
  readonly decreases: readonly AccountDifference[];
}

const PERCENTS = [0, 5, 25, 50, 75, 95, 100] as const;
const LARGEST_SHOWN = 10;

export function computeDistribution(accounts: readonly AccountDifference[]): Distribution {
  const sorted = accounts
    .map(({ accountId, difference }) => ({ accountId, difference }))
    .sort((a, b) => a.difference.comparedTo(b.difference));
  const increases = sorted.filter(({ difference }) => difference.gt(ZERO));
  const decreases = sorted.filter(({ difference }) => difference.lt(ZERO));
  return {
    more: increases.length,
    same: sorted.length - increases.length - decreases.length,
    less: decreases.length,
    quantiles: PERCENTS.flatMap((percent) => {
      const rank = Math.max(1, Math.ceil((percent * sorted.length) / 100));
      const difference = sorted[rank - 1]?.difference;
      return difference === undefined ? [] : [{ percent, difference }];
    }),
    increases: increases.toReversed().slice(0, LARGEST_SHOWN),
    decreases: decreases.slice(0, LARGEST_SHOWN),
  };
}
