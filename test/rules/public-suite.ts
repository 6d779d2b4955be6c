/**
 * The cases of the public JSON Logic test suite, https://jsonlogic.com/tests.json (repository jwadhams/json-logic, file
 * tests.json), written as tables: arguments, facts if any, and the expected result.
 */

/** A rule, its facts and the result. */
export interface SuiteCase {
  readonly rule: unknown;
  readonly facts: unknown;
  readonly expected: unknown;
}

/** One operator on the facts `{}`: its arguments and the result. */
type Rows = readonly (readonly [args: unknown, expected: unknown])[];

const operators: Readonly<Record<string, Rows>> = {
  "==": [
    [[1, 1], true],
    [[1, "1"], true],
    [[1, 2], false],
  ],
  "===": [
    [[1, 1], true],
    [[1, "1"], false],
    [[1, 2], false],
    [[0, "0"], false],
    [[0, { "+": "0" }], true],
  ],
  "!=": [
    [[1, 2], true],
    [[1, 1], false],
    [[1, "1"], false],
  ],
  "!==": [
    [[1, 2], true],
    [[1, 1], false],
    [[1, "1"], true],
  ],
  ">": [
    [[2, 1], true],
    [[1, 1], false],
    [[1, 2], false],
    [["2", 1], true],
  ],
  ">=": [
    [[2, 1], true],
    [[1, 1], true],
    [[1, 2], false],
    [["2", 1], true],
  ],
  "<": [
    [[2, 1], false],
    [[1, 1], false],
    [[1, 2], true],
    [["1", 2], true],
    [[1, 2, 3], true],
    [[1, 1, 3], false],
    [[1, 4, 3], false],
  ],
  "<=": [
    [[2, 1], false],
    [[1, 1], true],
    [[1, 2], true],
    [["1", 2], true],
    [[1, 2, 3], true],
    [[1, 4, 3], false],
  ],
  "!": [
    [[false], true],
    [false, true],
    [[true], false],
    [true, false],
    [0, true],
    [1, false],
    [[[]], true],
    [[0], true],
    [[""], true],
    [["0"], false],
  ],
  "!!": [
    [[[]], false],
    [[0], false],
    [[""], false],
    [["0"], true],
  ],
  or: [
    [[true, true], true],
    [[false, true], true],
    [[true, false], true],
    [[false, false], false],
    [[false, false, true], true],
    [[false, false, false], false],
    [[false], false],
    [[true], true],
    [[1, 3], 1],
    [[3, false], 3],
    [[false, 3], 3],
    [[[], true], true],
    [[0, true], true],
    [["", true], true],
    [["0", true], "0"],
  ],
  and: [
    [[true, true], true],
    [[false, true], false],
    [[true, false], false],
    [[false, false], false],
    [[true, true, true], true],
    [[true, true, false], false],
    [[false], false],
    [[true], true],
    [[1, 3], 3],
    [[3, false], false],
    [[false, 3], false],
    [[[], true], []],
    [[0, true], 0],
    [["", true], ""],
    [["0", true], true],
    [[{ ">": [3, 1] }, true], true],
    [[{ ">": [3, 1] }, false], false],
    [[{ ">": [3, 1] }, { "!": true }], false],
    [[{ ">": [3, 1] }, { "<": [1, 3] }], true],
  ],
  "?:": [
    [[true, 1, 2], 1],
    [[false, 1, 2], 2],
    [[{ ">": [3, 1] }, "visible", "hidden"], "visible"],
  ],
  if: [
    [[], null],
    [[true], true],
    [[false], false],
    [["apple"], "apple"],
    [[true, "apple"], "apple"],
    [[false, "apple"], null],
    [[true, "apple", "banana"], "apple"],
    [[false, "apple", "banana"], "banana"],
    [[[], "apple", "banana"], "banana"],
    [[[1], "apple", "banana"], "apple"],
    [[[1, 2, 3, 4], "apple", "banana"], "apple"],
    [["", "apple", "banana"], "banana"],
    [["zucchini", "apple", "banana"], "apple"],
    [["0", "apple", "banana"], "apple"],
    [[{ "+": "0" }, "apple", "banana"], "banana"],
    [[{ "+": "1" }, "apple", "banana"], "apple"],
    [[0, "apple", "banana"], "banana"],
    [[1, "apple", "banana"], "apple"],
    // oxlint-disable-next-line oxc/approx-constant -- the suite's own figure
    [[3.1416, "apple", "banana"], "apple"],
    [[-1, "apple", "banana"], "apple"],
    [[{ ">": [2, 1] }, "apple", "banana"], "apple"],
    [[{ ">": [1, 2] }, "apple", "banana"], "banana"],
    [[true, { cat: ["ap", "ple"] }, { cat: ["ba", "na", "na"] }], "apple"],
    [[false, { cat: ["ap", "ple"] }, { cat: ["ba", "na", "na"] }], "banana"],
    [[true, "apple", true, "banana"], "apple"],
    [[true, "apple", false, "banana"], "apple"],
    [[false, "apple", true, "banana"], "banana"],
    [[false, "apple", false, "banana"], null],
    [[true, "apple", true, "banana", "carrot"], "apple"],
    [[true, "apple", false, "banana", "carrot"], "apple"],
    [[false, "apple", true, "banana", "carrot"], "banana"],
    [[false, "apple", false, "banana", "carrot"], "carrot"],
    [[false, "apple", false, "banana", false, "carrot"], null],
    [[false, "apple", false, "banana", false, "carrot", "date"], "date"],
    [[false, "apple", false, "banana", true, "carrot", "date"], "carrot"],
    [[false, "apple", true, "banana", false, "carrot", "date"], "banana"],
    [[false, "apple", true, "banana", true, "carrot", "date"], "banana"],
    [[true, "apple", false, "banana", false, "carrot", "date"], "apple"],
    [[true, "apple", false, "banana", true, "carrot", "date"], "apple"],
    [[true, "apple", true, "banana", false, "carrot", "date"], "apple"],
    [[true, "apple", true, "banana", true, "carrot", "date"], "apple"],
  ],
  in: [
    [["Bart", ["Bart", "Homer", "Lisa", "Marge", "Maggie"]], true],
    [["Milhouse", ["Bart", "Homer", "Lisa", "Marge", "Maggie"]], false],
    [["Spring", "Springfield"], true],
    [["i", "team"], false],
  ],
  cat: [
    ["ice", "ice"],
    [["ice"], "ice"],
    [["ice", "cream"], "icecream"],
    [[1, 2], "12"],
    [["Robocop", 2], "Robocop2"],
    [["we all scream for ", "ice", "cream"], "we all scream for icecream"],
  ],
  substr: [
    [["jsonlogic", 4], "logic"],
    [["jsonlogic", -5], "logic"],
    [["jsonlogic", 0, 1], "j"],
    [["jsonlogic", -1, 1], "c"],
    [["jsonlogic", 4, 5], "logic"],
    [["jsonlogic", -5, 5], "logic"],
    [["jsonlogic", -5, -2], "log"],
    [["jsonlogic", 1, -5], "son"],
  ],
  "%": [
    [[1, 2], 1],
    [[2, 2], 0],
    [[3, 2], 1],
  ],
  max: [
    [[1, 2, 3], 3],
    [[1, 3, 3], 3],
    [[3, 2, 1], 3],
    [[1], 1],
  ],
  min: [
    [[1, 2, 3], 1],
    [[1, 1, 3], 1],
    [[3, 2, 1], 1],
    [[1], 1],
  ],
  "+": [
    [[1, 2], 3],
    [[2, 2, 2], 6],
    [[1], 1],
    [["1", 1], 2],
  ],
  "*": [
    [[3, 2], 6],
    [[2, 2, 2], 8],
    [[1], 1],
    [["1", 1], 1],
  ],
  "-": [
    [[2, 3], -1],
    [[3, 2], 1],
    [[3], -3],
    [["1", 1], 0],
  ],
  "/": [
    [[4, 2], 2],
    [[2, 4], 0.5],
    [["1", 1], 1],
  ],
  merge: [
    [[], []],
    [[[1]], [1]],
    [[[1], []], [1]],
    [
      [[1], [2]],
      [1, 2],
    ],
    [
      [[1], [2], [3]],
      [1, 2, 3],
    ],
    [
      [[1, 2], [3]],
      [1, 2, 3],
    ],
    [
      [[1], [2, 3]],
      [1, 2, 3],
    ],
    [1, [1]],
    [
      [1, 2],
      [1, 2],
    ],
    [
      [1, [2]],
      [1, 2],
    ],
  ],
};

const literals: readonly unknown[] = [true, false, 17, 3.14, "apple", null, ["a", "b"]];

const PIE = { temp: 100, pie: { filling: "apple", eta: "60s" } };
const NUMBERS = { integers: [1, 2, 3] };
const FOUR = { integers: [1, 2, 3, 4] };
const NO_NUMBERS = { integers: [] };
const ITEMS = {
  items: [
    { qty: 1, sku: "apple" },
    { qty: 2, sku: "banana" },
  ],
};
const NO_ITEMS = { items: [] };
const DESSERTS = {
  desserts: [
    { name: "apple", qty: 1 },
    { name: "brownie", qty: 2 },
    { name: "cupcake", qty: 3 },
  ],
};
const VIN = { missing: { merge: ["vin", { if: [{ var: "financing" }, ["apr"], []] }] } };

const integers = { var: "integers" };
const items = { var: "items" };
const element = { var: "" };

/** A sum or product over the integers. */
function reduceRule(operator: string, start: number): unknown {
  return { reduce: [integers, { [operator]: [{ var: "current" }, { var: "accumulator" }] }, start] };
}

const onFacts: readonly (readonly [rule: unknown, facts: unknown, expected: unknown])[] = [
  [{ var: ["a"] }, { a: 1 }, 1],
  [{ var: ["b"] }, { a: 1 }, null],
  [{ var: ["a"] }, null, null],
  [{ var: "a" }, { a: 1 }, 1],
  [{ var: "b" }, { a: 1 }, null],
  [{ var: "a" }, null, null],
  [{ var: ["a", 1] }, null, 1],
  [{ var: ["b", 2] }, { a: 1 }, 2],
  [{ var: "a.b" }, { a: { b: "c" } }, "c"],
  [{ var: "a.q" }, { a: { b: "c" } }, null],
  [{ var: ["a.q", 9] }, { a: { b: "c" } }, 9],
  [{ var: 1 }, ["apple", "banana"], "banana"],
  [{ var: "1" }, ["apple", "banana"], "banana"],
  [{ var: "1.1" }, ["apple", ["banana", "beer"]], "beer"],
  [{ and: [{ "<": [{ var: "temp" }, 110] }, { "==": [{ var: "pie.filling" }, "apple"] }] }, PIE, true],
  [{ var: [{ "?:": [{ "<": [{ var: "temp" }, 110] }, "pie.filling", "pie.eta"] }] }, PIE, "apple"],
  [{ in: [{ var: "filling" }, ["apple", "cherry"]] }, { filling: "apple" }, true],
  [{ var: "a.b.c" }, null, null],
  [{ var: "a.b.c" }, { a: null }, null],
  [{ var: "a.b.c" }, { a: { b: null } }, null],
  [{ var: "" }, 1, 1],
  [{ var: null }, 1, 1],
  [{ var: [] }, 1, 1],
  [[1, { var: "x" }, 3], { x: 2 }, [1, 2, 3]],
  [{ if: [{ var: "x" }, [{ var: "y" }], 99] }, { x: true, y: 42 }, [42]],

  [{ missing: [] }, null, []],
  [{ missing: ["a"] }, null, ["a"]],
  [{ missing: "a" }, null, ["a"]],
  [{ missing: "a" }, { a: "apple" }, []],
  [{ missing: ["a"] }, { a: "apple" }, []],
  [{ missing: ["a", "b"] }, { a: "apple" }, ["b"]],
  [{ missing: ["a", "b"] }, { b: "banana" }, ["a"]],
  [{ missing: ["a", "b"] }, { a: "apple", b: "banana" }, []],
  [{ missing: ["a", "b"] }, {}, ["a", "b"]],
  [{ missing: ["a", "b"] }, null, ["a", "b"]],
  [{ missing: ["a.b"] }, null, ["a.b"]],
  [{ missing: ["a.b"] }, { a: "apple" }, ["a.b"]],
  [{ missing: ["a.b"] }, { a: { c: "apple cake" } }, ["a.b"]],
  [{ missing: ["a.b"] }, { a: { b: "apple brownie" } }, []],
  [{ missing: ["a.b", "a.c"] }, { a: { b: "apple brownie" } }, ["a.c"]],
  [{ missing_some: [1, ["a", "b"]] }, { a: "apple" }, []],
  [{ missing_some: [1, ["a", "b"]] }, { b: "banana" }, []],
  [{ missing_some: [1, ["a", "b"]] }, { a: "apple", b: "banana" }, []],
  [{ missing_some: [1, ["a", "b"]] }, { c: "carrot" }, ["a", "b"]],
  [{ missing_some: [2, ["a", "b", "c"]] }, { a: "apple", b: "banana" }, []],
  [{ missing_some: [2, ["a", "b", "c"]] }, { a: "apple", c: "carrot" }, []],
  [{ missing_some: [2, ["a", "b", "c"]] }, { a: "apple", b: "banana", c: "carrot" }, []],
  [{ missing_some: [2, ["a", "b", "c"]] }, { a: "apple", d: "durian" }, ["b", "c"]],
  [{ missing_some: [2, ["a", "b", "c"]] }, { d: "durian", e: "eggplant" }, ["a", "b", "c"]],
  [{ if: [{ missing: "a" }, "missed it", "found it"] }, { a: "apple" }, "found it"],
  [{ if: [{ missing: "a" }, "missed it", "found it"] }, { b: "banana" }, "missed it"],
  [VIN, { financing: true }, ["vin", "apr"]],
  [VIN, { financing: false }, ["vin"]],

  [{ filter: [integers, true] }, NUMBERS, [1, 2, 3]],
  [{ filter: [integers, false] }, NUMBERS, []],
  [{ filter: [integers, { ">=": [element, 2] }] }, NUMBERS, [2, 3]],
  [{ filter: [integers, { "%": [element, 2] }] }, NUMBERS, [1, 3]],
  [{ map: [integers, { "*": [element, 2] }] }, NUMBERS, [2, 4, 6]],
  [{ map: [integers, { "*": [element, 2] }] }, null, []],
  [{ map: [{ var: "desserts" }, { var: "qty" }] }, DESSERTS, [1, 2, 3]],
  [reduceRule("+", 0), FOUR, 10],
  [reduceRule("+", 0), null, 0],
  [reduceRule("*", 1), FOUR, 24],
  [reduceRule("*", 0), FOUR, 0],
  [{ reduce: [{ var: "desserts" }, { "+": [{ var: "accumulator" }, { var: "current.qty" }] }, 0] }, DESSERTS, 6],
];

/** `all`, `none` and `some` of one list and one condition. */
const quantifiers: readonly (readonly [
  list: unknown,
  condition: unknown,
  facts: unknown,
  results: { readonly all: boolean; readonly none: boolean; readonly some: boolean },
])[] = [
  [integers, { ">=": [element, 1] }, NUMBERS, { all: true, none: false, some: true }],
  [integers, { "==": [element, 1] }, NUMBERS, { all: false, none: false, some: true }],
  [integers, { "<": [element, 1] }, NUMBERS, { all: false, none: true, some: false }],
  [integers, { "<": [element, 1] }, NO_NUMBERS, { all: false, none: true, some: false }],
  [items, { ">=": [{ var: "qty" }, 1] }, ITEMS, { all: true, none: false, some: true }],
  [items, { ">": [{ var: "qty" }, 1] }, ITEMS, { all: false, none: false, some: true }],
  [items, { "<": [{ var: "qty" }, 1] }, ITEMS, { all: false, none: true, some: false }],
  [items, { ">=": [{ var: "qty" }, 1] }, NO_ITEMS, { all: false, none: true, some: false }],
];

/** Every case of the suite. */
export const publicSuite: readonly SuiteCase[] = [
  ...literals.map((literal) => ({ rule: literal, facts: {}, expected: literal })),
  ...Object.entries(operators).flatMap(([operator, rows]) =>
    rows.map(([args, expected]) => ({ rule: { [operator]: args }, facts: {}, expected })),
  ),
  ...onFacts.map(([rule, facts, expected]) => ({ rule, facts, expected })),
  ...quantifiers.flatMap(([list, condition, facts, results]) =>
    Object.entries(results).map(([operator, expected]) => ({
      rule: { [operator]: [list, condition] },
      facts,
      expected,
    })),
  ),
];
