import { describe, expect, test } from "vitest";

import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import { exactOfText, Scaled } from "../../src/numbers/exact.ts";
import { compileRule, compile } from "../../src/rules/compile.ts";
import { parseRule } from "../../src/rules/rule.ts";
import type { Fact } from "../../src/rules/value.ts";

/** A rule's result; decimals as their plain text after a mark. */
function result(rule: unknown, facts: unknown = {}): unknown {
  return toPlainValue(compileRule(rule)(facts));
}

function toPlainValue(value: Fact): unknown {
  if (Decimal.isDecimal(value)) return `decimal ${formatDecimal(value)}`;
  return Array.isArray(value) ? (value as readonly Fact[]).map(toPlainValue) : value;
}

const failing = (code: string, message: string): unknown => expect.objectContaining({ code, message });

describe("decimals in rules", () => {
  test.each<[unknown, unknown, string]>([
    [{ "*": [{ var: "attribute.x" }, 3] }, { attribute: { x: 0.1 } }, "0.3"],
    [{ "+": [0.1, 0.2] }, {}, "0.3"],
    [{ "+": [{ var: "x" }, 1] }, { x: "12345678901234567890.5" }, "12345678901234567891.5"],
    [{ "+": [{ var: "x" }, 1] }, { x: new Decimal("0.00000000000000000001") }, "1.00000000000000000001"],
    [{ "-": [10, 3, 2] }, {}, "7"],
    [{ "*": [2, 3, 0.5, "4"] }, {}, "12"],
    [{ "%": [5.5, 2] }, {}, "1.5"],
    [{ min: [3, "2.5", 2.75] }, {}, "2.5"],
    [{ round: 2.5 }, {}, "3"],
    [{ round: ["1.25", "1"] }, {}, "1.3"],
    [{ floor: [-0.5] }, {}, "-1"],
    [{ floor: [1.29, 1] }, {}, "1.2"],
    [{ ceil: [1.21, 1] }, {}, "1.3"],
    [{ "+": [parseRule("0.12345678901234567890")] }, {}, "0.1234567890123456789"],
    ["1", {}, "1"],
  ])("S3.2 %j on %j is %s", (rule, facts, expected) => {
    expect(result(rule, facts)).toBe(`decimal ${expected}`);
  });

  const placesOf = (operator: string): string =>
    `the second argument of "${operator}" must be a whole number from -100 to 100`;
  test.each<[unknown, unknown, string]>([
    [{ "+": [{ var: "attribute.x" }, 1] }, {}, 'attribute.x is missing in "+"'],
    [{ "*": [2, { var: "attribute.x" }] }, { attribute: { x: null } }, 'attribute.x is missing in "*"'],
    [{ "*": ["abc", 2] }, {}, '"abc" is not a decimal in "*"'],
    [{ "-": [{ var: "size" }] }, { size: "XL" }, '"XL" (size) is not a decimal in "-"'],
    [{ "+": [{ var: "x" }] }, { x: [1] }, 'a list (x) is not a decimal in "+"'],
    [{ min: [1, true] }, {}, 'true is not a decimal in "min"'],
    [{ "%": [{ "==": [1, 1] }, 2] }, {}, 'true is not a decimal in "%"'],
    [{ "+": [1, "1,000"] }, {}, '"1,000" is not a decimal in "+"'],
    [{ "+": ["x".repeat(70)] }, {}, `"${"x".repeat(60)}…" is not a decimal in "+"`],
    [{ round: [1, 0.5] }, {}, `${placesOf("round")}, got 0.5`],
    [{ floor: [1, 101] }, {}, `${placesOf("floor")}, got 101`],
    [{ ceil: [1, "two"] }, {}, `${placesOf("ceil")}, got "two", not a decimal`],
    [{ ceil: [1, "2.5"] }, {}, `${placesOf("ceil")}, got "2.5"`],
    [{ var: "x" }, { x: Number.NaN }, "NaN is not a decimal"],
    [
      { var: "x" },
      { x: 2 ** 53 },
      "the number 9007199254740992 is above 2^53, so its last digits may be lost; write it as a string",
    ],
  ])("S3.2 %j on %j is an error of the event", (rule, facts, message) => {
    expect(() => result(rule, facts)).toThrow(failing("ERR_RULE_FAILED", message));
  });

  test("S3.2 an error comes when a rule is evaluated, not when it is compiled", () => {
    const never = compileRule({ if: [{ var: "ok" }, 1, { "/": [1, 0] }] });
    expect(toPlainValue(never({ ok: true }))).toBe("decimal 1");
    expect(() => never({ ok: false })).toThrow(failing("ERR_ARITHMETIC", "division by zero"));
    expect(() => compileRule({ "+": ["abc"] })).not.toThrow();
  });

  test("S3.2 comparisons of two decimals are by value", () => {
    const values = { one: "1.0", nine: 9, ten: new Decimal("10.00"), tenth: 0.1 };
    expect(result({ "==": [{ var: "one" }, 1] }, values)).toBe(true);
    expect(result({ "===": [{ var: "ten" }, 10] }, values)).toBe(true);
    expect(result({ "!==": [{ var: "ten" }, 10] }, values)).toBe(false);
    expect(result({ "<": [{ var: "nine" }, { var: "ten" }] }, values)).toBe(true);
    expect(result({ ">=": [{ var: "nine" }, { var: "ten" }] }, values)).toBe(false);
    expect(result({ "==": [{ "+": [{ var: "tenth" }, 0.2] }, 0.3] }, values)).toBe(true);
    expect(result({ in: [{ var: "ten" }, [1, 10]] }, values)).toBe(true);
    expect(result({ "<": [0, { var: "tenth" }, 1] }, values)).toBe(true);
    expect(result({ "<=": [0.1, { var: "tenth" }, 0.1] }, values)).toBe(true);
  });

  test("S3.4 a decimal 0 is falsy, in any notation", () => {
    for (const zero of [0, "0.00", new Decimal("-0")]) {
      expect(result({ if: [{ "+": [{ var: "x" }, 0] }, "yes", "no"] }, { x: zero })).toBe("no");
    }
    expect(result({ "!!": { "-": [0.1, 0.1] } })).toBe(false);
    expect(compile({ "!": { var: "x" } })({ x: new Scaled(0, 2) })).toBe(true);
  });

  test("S3.4 cat of a decimal is its plain text", () => {
    expect(result({ cat: ["<", 0.1, "|", 1e-7, "|", { "*": ["1e10", "1e12"] }, ">"] })).toBe(
      "<0.1|0.0000001|10000000000000000000000>",
    );
    expect(result({ cat: [{ "*": [0.5, 2] }, null, [1, [2, null]], true] })).toBe("11,2,true");
  });
});

describe("variables", () => {
  test("S3.3 a name may contain dots, spaces and hyphens", () => {
    const facts = { attribute: { "a.b": 1, "a b-c": 2, a: { c: { d: 3 }, "c.d": 4 } }, "x.y": 5 };
    expect(result({ var: "attribute.a.b" }, facts)).toBe("decimal 1");
    expect(result({ var: "attribute.a b-c" }, facts)).toBe("decimal 2");
    expect(result({ var: "attribute.a.c.d" }, facts)).toBe("decimal 4");
    expect(result({ var: "x.y" }, facts)).toBe("decimal 5");
    expect(result({ var: "attribute.a.x" }, facts)).toBe(null);
    expect(result({ var: ".".repeat(10_000) }, facts)).toBe(null);
  });

  test.each(["__proto__", "constructor", "toString", "attribute.__proto__", "attribute.constructor.name", "list.map"])(
    "S3.3 only own properties are ever read: %s",
    (path) => {
      expect(result({ var: path }, { attribute: { x: 1 }, list: [1] })).toBe(null);
      expect(result({ var: [{ cat: [path] }, "none"] }, { attribute: { x: 1 }, list: [1] })).toBe("none");
    },
  );

  test("S3.3 an own __proto__ is a name like any other", () => {
    const facts: unknown = JSON.parse('{"attribute": {"__proto__": 7, "constructor": 8}}');
    expect(result({ var: "attribute.__proto__" }, facts)).toBe("decimal 7");
    expect(result({ var: "attribute.constructor" }, facts)).toBe("decimal 8");
  });

  test.each(["d", "e", "s", "constructor", "mantissa", "scale", "x"])("S3.3 a decimal has no property %s", (name) => {
    expect(result({ var: `n.${name}` }, { n: new Decimal("1.5") })).toBe(null);
    expect(compile({ var: `n.${name}` })({ n: new Scaled(15, 1) })).toBe(null);
    expect(toPlainValue(compileRule({ var: `n.${name}` })({ n: { [name]: 2 } }))).toBe("decimal 2");
  });

  test("S3.4 var has a default, used for a missing value, but not for null", () => {
    expect(result({ var: ["x", 5] }, {})).toBe("decimal 5");
    expect(result({ var: ["x", { var: "y" }] }, { y: "z" })).toBe("z");
    expect(result({ var: ["x", 5] }, { x: null })).toBe(null);
    expect(result({ var: ["x", 5] }, { x: undefined })).toBe("decimal 5");
    expect(result({ "+": [{ var: ["x", 5] }, 1] }, {})).toBe("decimal 6");
  });

  test("S3.7 literal paths are bound to readers when the rule is compiled", () => {
    const paths: string[] = [];
    const frame = { slots: [3, exactOfText("0.5")] };
    const evaluate = compile<typeof frame>(
      { "+": [{ "*": [{ var: "attribute.a" }, { var: ["attribute.b", 9] }] }, { var: ["attribute.c", 1] }] },
      {
        variables: (path) => {
          paths.push(path);
          const slot = ["attribute.a", "attribute.b"].indexOf(path);
          return slot < 0 ? undefined : (frame) => frame.slots[slot];
        },
      },
    );
    expect(paths).toEqual(["attribute.a", "attribute.b", "attribute.c"]);
    expect(evaluate(frame)).toEqual(new Scaled(25, 1));
    expect(evaluate({ slots: [4, 1] })).toBe(5);
    expect(paths).toHaveLength(3);
  });

  test("S3.7 computed paths and missing use the same readers", () => {
    const variables = (path: string): ((frame: { readonly x: string }) => string | undefined) | undefined =>
      path === "dimension.x" ? (frame) => frame.x : path === "dimension.none" ? () => undefined : undefined;
    const evaluate = (rule: unknown): unknown => compile(parseRule(rule), { variables })({ x: "here" });
    expect(evaluate({ var: { cat: ["dimension.", "x"] } })).toBe("here");
    expect(evaluate({ missing: ["dimension.x", "dimension.none"] })).toEqual(["dimension.none"]);
    expect(evaluate({ missing: [{ cat: "dimension.none" }] })).toEqual(["dimension.none"]);
    expect(evaluate({ missing_some: [1, ["dimension.x", "dimension.none"]] })).toEqual([]);
    expect(evaluate({ missing_some: [2, ["dimension.x", "dimension.none"]] })).toEqual(["dimension.none"]);
  });

  test("S3.4 inside map and similar operators, a variable reads only the element", () => {
    const variables = (): (() => string) => (): string => "bound";
    const rule = { map: [[1, 2], { cat: [{ var: "" }, { var: "attribute.x" }] }] };
    expect(compile(rule, { variables })({})).toEqual(["1", "2"]);
    expect(result({ filter: [{ var: "n" }, { ">": [{ var: "" }, 0.15] }] }, { n: [0.1, 0.2, "0.3"] })).toEqual([
      "decimal 0.2",
      "0.3",
    ]);
    const sum = { reduce: [{ var: "n" }, { "+": [{ var: "accumulator" }, { var: "current" }] }, 0] };
    expect(result(sum, { n: [0.1, 0.2, "0.3"] })).toBe("decimal 0.6");
  });
});

describe("control", () => {
  test("S3.1 operands that are not needed are not evaluated", () => {
    const calls: string[] = [];
    const operators = {
      see: (name: Fact, value: Fact): Fact => {
        calls.push(name as string);
        return value;
      },
    };
    const listCalls = (rule: unknown): readonly string[] => {
      calls.length = 0;
      compileRule(rule, { operators })({});
      return [...calls];
    };
    const see = (name: string, value: unknown): unknown => ({ see: [name, value] });
    const branches = (first: unknown, third: unknown): unknown => ({
      if: [see("a", first), see("b", 1), see("c", third), see("d", 1), see("e", 1)],
    });
    expect(listCalls(branches(true, true))).toEqual(["a", "b"]);
    expect(listCalls(branches(0, []))).toEqual(["a", "c", "e"]);
    expect(listCalls({ and: [see("a", 1), see("b", ""), see("c", 1)] })).toEqual(["a", "b"]);
    expect(listCalls({ or: [see("a", 0), see("b", "x"), see("c", 1)] })).toEqual(["a", "b"]);
    expect(listCalls({ some: [[1, 2, 3], see("a", true)] })).toEqual(["a"]);
    expect(listCalls({ all: [[1, 2, 3], see("a", false)] })).toEqual(["a"]);
  });

  test("S3.7 a compiled rule changes neither its facts nor itself", () => {
    const facts = Object.freeze({ list: Object.freeze([3, 1, 2]), n: 1 });
    const evaluate = compileRule({ merge: [{ var: "list" }, { map: [[1, 2], { var: "" }] }, { var: "n" }] });
    expect(toPlainValue(evaluate(facts))).toEqual(toPlainValue(evaluate(facts)));
    const constant = compileRule({ merge: [[1, 2], []] });
    const first = constant({});
    if (Array.isArray(first)) first.length = 0;
    expect(toPlainValue(constant({}))).toEqual(["decimal 1", "decimal 2"]);
  });

  test("S3.1 facts nested too deeply are rejected", () => {
    let facts: unknown = [];
    for (let depth = 0; depth < 100_000; depth++) facts = [facts];
    expect(() => result({ var: "x" }, { x: facts })).toThrow(
      failing("ERR_RULE_FAILED", "the facts are nested more than 64 levels deep"),
    );
  });
});

describe("dates and durations", () => {
  test.each<[unknown, unknown]>([
    [{ date: ["2024-05-29"] }, "2024-05-29T00:00:00.000Z"],
    [{ "==": [{ date: "2024-05-29T00:00:00Z" }, { date: "2024-05-29 00:00:00 UTC" }] }, true],
    [{ "<": [{ date: "2024-05-29" }, { date: "2024-05-29T00:00:00.001Z" }] }, true],
    [{ "date.add": ["2024-01-31", "P1M"] }, "2024-02-29T00:00:00.000Z"],
    [{ "date.add": [{ date: "2024-05-29" }, "PT36H"] }, "2024-05-30T12:00:00.000Z"],
    [{ "date.sub": ["2024-03-01", "P1D"] }, "2024-02-29T00:00:00.000Z"],
    [{ "date.sub": ["2024-05-29", { "duration.of": [100, "DAYS"] }] }, "2024-02-19T00:00:00.000Z"],
    [{ "duration.between": ["2024-05-01T00:00:00Z", "2024-05-01T01:30:15Z"] }, "PT1H30M15S"],
    [{ "duration.as": ["PT90M", "HOURS"] }, "decimal 1.5"],
    [{ "duration.as": ["PT8H", "DAYS"] }, `decimal 0.${"3".repeat(34)}`],
    [{ "duration.as": [{ "duration.between": ["2024-05-01", "2024-06-01"] }, "DAYS"] }, "decimal 31"],
  ])("S3.4 %j is %s", (rule, expected) => {
    expect(result(rule)).toBe(expected);
  });

  test.each<[unknown, RegExp]>([
    [{ date: ["2024-02-30"] }, /^in "date": "2024-02-30"/],
    [{ date: [20240529] }, /^"date" expects a string, got 20240529$/],
    [{ date: [{ var: "x" }] }, /^"date" expects a string, got null$/],
    [{ "date.add": ["2024-05-29", "1 day"] }, /^in "date.add": "1 day" is not a duration/],
    [{ "date.add": ["2024-05-29", 1] }, /^"date.add" expects a string, got 1$/],
    [{ "date.add": ["9999-12-31", "P1D"] }, /^in "date.add": /],
    [{ "date.sub": ["now", "P1D"] }, /^in "date.sub": "now"/],
    [{ "duration.between": ["2024-05-29", ""] }, /^in "duration.between": /],
    [{ "duration.of": ["x", "DAYS"] }, /^"x" is not a decimal in "duration.of"$/],
    [
      { "duration.of": [1, "days"] },
      /^"duration.of" expects one of the units MILLIS, SECONDS, MINUTES, HOURS, DAYS, got "days"$/,
    ],
    [{ "duration.as": ["P1M", "DAYS"] }, /^in "duration.as": /],
    [{ "duration.as": ["PT1H", "WEEKS"] }, /^"duration.as" expects one of the units/],
  ])("S3.4 invalid input is an error of the event: %j", (rule, message) => {
    expect(() => result(rule)).toThrow(
      expect.objectContaining({ code: "ERR_RULE_FAILED", message: expect.stringMatching(message) as string }),
    );
  });
});

describe("custom operators", () => {
  const operators = {
    "price.of": (name: Fact): Fact => (name === "gold" ? new Decimal("1.50") : null),
    half: (value: Fact): unknown => (Decimal.isDecimal(value) ? value.toNumber() / 2 : value),
    names: (): unknown => ["a", 1, { n: 0.5 }],
    broken: (): never => {
      throw new TypeError("oops");
    },
    nan: (): number => Number.NaN,
  };
  const evaluateOwn = (rule: unknown): unknown => toPlainValue(compileRule(rule, { operators })({}));

  test("S3.4 receive and return decimals, and can be combined with built-in ones", () => {
    expect(evaluateOwn({ "*": [{ "price.of": ["gold"] }, 3] })).toBe("decimal 4.5");
    expect(evaluateOwn({ "+": [{ half: 0.5 }, 1] })).toBe("decimal 1.25");
    expect(evaluateOwn({ in: ["a", { names: [] }] })).toBe(true);
    expect(evaluateOwn({ map: [{ names: [] }, { var: "n" }] })).toEqual([null, null, "decimal 0.5"]);
    expect(evaluateOwn({ map: [["gold", "tin"], { "price.of": { var: "" } }] })).toEqual(["decimal 1.5", null]);
  });

  test("S3.4 are known only to their own compiler", () => {
    expect(() => compileRule({ half: 1 })).toThrow(
      failing("ERR_RULE_INVALID", 'in the rule at $: unknown operator "half"'),
    );
  });

  test("S3.4 can't replace built-in operators", () => {
    const takenNames = { "+": (): number => 0, var: (): number => 0 };
    expect(toPlainValue(compileRule({ "+": [{ var: "x" }, 1] }, { operators: takenNames })({ x: 1 }))).toBe(
      "decimal 2",
    );
  });

  test("S3.2 that throw cause an error of the event", () => {
    expect(() => evaluateOwn({ broken: [] })).toThrow(failing("ERR_RULE_FAILED", '"broken" failed: oops'));
    expect(() => evaluateOwn({ nan: [] })).toThrow(failing("ERR_RULE_FAILED", "NaN is not a decimal"));
  });
});
