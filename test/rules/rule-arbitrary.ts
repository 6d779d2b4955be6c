/** Generated rules, and facts for them. */
import fc from "fast-check";

/** Facts with the names that the rules read; numbers are quarters, which doubles and decimals compute alike. */
const quarters = fc.integer({ min: -80, max: 80 }).map((units) => units / 4);
const texts = fc.constantFrom("", "0", "1", "-2", "1.50", " 3 ", "0x10", "1e2", "abc", "b", "true", "Infinity", "null");
const primitive = fc.oneof(quarters, texts, fc.boolean(), fc.constant(null));
const list = fc.array(fc.oneof(primitive, fc.array(quarters, { maxLength: 2 })), { maxLength: 4 });
export const facts = fc.record(
  {
    n: quarters,
    m: quarters,
    text: texts,
    flag: fc.boolean(),
    nothing: fc.constant(null),
    list,
    numbers: fc.array(quarters, { maxLength: 4 }),
    items: fc.array(fc.record({ qty: quarters, sku: texts }, { noNullPrototype: true }), { maxLength: 3 }),
    deep: fc.record({ n: quarters, text: texts }, { noNullPrototype: true }),
  },
  { requiredKeys: ["n", "m", "numbers"], noNullPrototype: true },
);

const NAMES =
  "n m text flag nothing list numbers items deep deep.n deep.text deep.nope list.0 list.1.0 list.length text.length " +
  "text.0 items.0.sku nope nope.nope n.x";
const paths = fc.constantFrom<unknown>(...NAMES.split(" "), "", null);

const accumulation = fc.constantFrom(
  { cat: [{ var: "accumulator" }, { var: "current" }] },
  { merge: [{ var: "accumulator" }, { var: "current" }] },
  { or: [{ var: "accumulator" }, { var: "current.qty" }] },
  { var: "accumulator" },
  { var: "n" },
);

export const { number, any } = fc.letrec<{ number: unknown; any: unknown }>((tie) => ({
  // A decimal, combined only from decimals: other operands are an error here and NaN in json-logic-js.
  number: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    quarters,
    fc.constantFrom({ var: "n" }, { var: "m" }, { var: ["nope", 3] }, "2", "-1.5"),
    arbitraryOperation(["+", "min", "max"], fc.array(tie("number"), { minLength: 1, maxLength: 3 })),
    arbitraryOperation(["*"], fc.array(tie("number"), { minLength: 2, maxLength: 2 })),
    arbitraryOperation(["-"], fc.array(tie("number"), { minLength: 1, maxLength: 2 })),
    arbitraryOperation(["/"], fc.tuple(tie("number"), fc.constantFrom(1, 2, -4, "8"))),
    arbitraryOperation(["%"], fc.tuple(tie("number"), fc.constantFrom(1, 2.5, -3, "0.25"))),
    arbitraryOperation(["if", "?:"], fc.tuple(tie("any"), tie("number"), tie("number"))),
    fc.tuple(fc.constantFrom("+", "max"), quarters).map(([operator, start]) => ({
      reduce: [{ var: "numbers" }, { [operator]: [{ var: "current" }, { var: "accumulator" }] }, start],
    })),
  ),
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    primitive,
    paths.map((path) => ({ var: path })),
    tie("number"),
    arbitraryOperation(["==", "===", "!=", "!==", "<", "<=", ">", ">="], fc.array(tie("any"), { maxLength: 3 })),
    arbitraryOperation(["<", "<="], fc.tuple(tie("number"), tie("number"), tie("number"))),
    arbitraryOperation(["!", "!!", "log"], fc.array(tie("any"), { maxLength: 2 })),
    arbitraryOperation(["and", "or", "if", "?:"], fc.array(tie("any"), { maxLength: 5 })),
    arbitraryOperation(["cat", "merge"], fc.array(tie("any"), { maxLength: 3 })),
    arbitraryOperation(["in"], fc.tuple(tie("any"), tie("any"))),
    arbitraryOperation(["substr"], fc.array(tie("any"), { minLength: 1, maxLength: 3 })),
    arbitraryOperation(["var"], fc.tuple(fc.oneof(paths, tie("any")), tie("any"))),
    arbitraryOperation(["missing"], fc.array(paths, { maxLength: 3 })),
    arbitraryOperation(["missing"], fc.tuple(fc.array(paths, { maxLength: 3 }))),
    arbitraryOperation(["missing_some"], fc.tuple(tie("number"), fc.array(paths, { maxLength: 3 }))),
    arbitraryOperation(["map", "filter", "all", "some", "none"], fc.tuple(lists(tie("any")), tie("any"))),
    arbitraryOperation(["map", "filter", "all", "some", "none"], fc.tuple(lists(tie("any")), elementRule(tie("any")))),
    arbitraryOperation(["reduce"], fc.tuple(lists(tie("any")), accumulation, tie("any"))),
    arbitraryOperation(["reduce"], fc.tuple(lists(tie("any")), accumulation)),
    fc.array(tie("any"), { maxLength: 3 }),
  ),
}));

/** An operation with one of these operators. */
function arbitraryOperation(operators: readonly string[], args: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.tuple(fc.constantFrom(...operators), args).map(([operator, values]) => ({ [operator]: values }));
}

/** Usually a list, sometimes another value. */
function lists(other: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.constantFrom({ var: "list" }, { var: "numbers" }, { var: "items" }, { merge: [{ var: "list" }, 1] }),
    other,
  );
}

/** An operation on an element, read whole or in part. */
function elementRule(other: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const element = fc.constantFrom({ var: "" }, { var: "qty" }, { var: "sku" }, { var: ["sku", "none"] }, { var: "0" });
  return arbitraryOperation(
    ["==", "<", ">=", "!", "cat", "in", "and"],
    fc.array(fc.oneof(element, other), { minLength: 1, maxLength: 2 }),
  );
}
