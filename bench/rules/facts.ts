/** Facts and rules to benchmark compiled rules with. */

/** One event's facts as plain data. */
export interface Facts {
  readonly attribute: { readonly tokens: number; readonly images: number; readonly hours: number };
  readonly dimension: { readonly service: string; readonly region: string };
}

/** A rule and the facts that it is evaluated on. */
export interface Scenario {
  readonly name: string;
  readonly rule: Readonly<Record<string, unknown>>;
  readonly facts: readonly Facts[];
  /** The minimum ratio to json-logic-js; undefined if it is only reported. */
  readonly minimumRatio: number | undefined;
}

/** Every scenario, each on `count` facts. */
export function createScenarios(count: number): readonly Scenario[] {
  const whole = Array.from({ length: count }, (_, index) => createFacts(index, 1));
  const fractions = Array.from({ length: count }, (_, index) => createFacts(index, 100));
  return [
    { name: "integers: + - *", rule: POINTS, facts: whole, minimumRatio: 20 },
    { name: "integers: comparisons", rule: CLASS, facts: whole, minimumRatio: 20 },
    { name: "fractions: + - *", rule: COST, facts: fractions, minimumRatio: 10 },
    { name: "division", rule: RATIO, facts: whole, minimumRatio: undefined },
  ];
}

function variable(path: string): { readonly var: string } {
  return { var: path };
}

/** Points for tokens and images, minus free ones. */
const POINTS = {
  "-": [
    {
      "+": [
        { "*": [variable("attribute.tokens"), 3] },
        { "*": [variable("attribute.images"), variable("attribute.hours")] },
        { "*": [{ "+": [variable("attribute.images"), 7] }, 40] },
      ],
    },
    1000,
  ],
};

/** Classifies an event by its sizes. */
const CLASS = {
  if: [
    {
      and: [
        { "==": [variable("dimension.service"), "code"] },
        { ">=": [variable("attribute.tokens"), 2000] },
        { "<": [variable("attribute.images"), 30] },
      ],
    },
    3,
    { or: [{ ">": [variable("attribute.hours"), 15] }, { "<=": [1000, variable("attribute.tokens"), 1500] }] },
    2,
    1,
  ],
};

/** An amount of money from quantities and rates with decimal places. */
const COST = {
  "+": [
    { "*": [variable("attribute.tokens"), 0.0015] },
    { "*": [variable("attribute.images"), variable("attribute.hours")] },
    { "-": [0.75, { "*": [variable("attribute.hours"), 0.25] }] },
  ],
};

/** Tokens per hour. */
const RATIO = { "/": [variable("attribute.tokens"), { "+": [variable("attribute.hours"), 1] }] };

/** Facts that rarely repeat, in units of 1 / `parts`. */
function createFacts(index: number, parts: number): Facts {
  return {
    attribute: {
      tokens: ((index * 7919) % 4001) / parts,
      images: ((index * 104_729) % 61) / parts,
      hours: ((index * 1_299_709) % 25) / parts,
    },
    dimension: { service: index % 3 === 0 ? "code" : "chat", region: index % 2 === 0 ? "eu" : "us" },
  };
}
