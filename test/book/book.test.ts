import { describe, expect, test } from "vitest";

import { parseBook, readBook, checkPlan, parsePlan } from "../../src/book/book.ts";
import { account } from "../../src/book/resources/account.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { stringifyJson } from "../../src/numbers/json.ts";
import { changedBook, foundIn, listProblems } from "./break-book.ts";
import { sampleBook } from "./sample-book.ts";

const book = readBook(sampleBook());

/** The fields that items of an account's lists may have. */
function fieldsOf(list: "pricePlans" | "licenseUpdates" | "credits" | "featureCredits"): readonly string[] {
  return Object.keys(account.shape[list].in.unwrap().unwrap().element.shape).toSorted();
}

describe("a book from readBook", () => {
  test("refers to resources by id instead of name", () => {
    expect(book.accounts[1]?.customerId).toBe("contoso");
    expect(book.invoiceGroups[0]?.accountIds).toEqual(["contoso-prod", "contoso-test"]);
  });

  test("has every rule parsed", () => {
    expect(book.usageMeters[0]?.computations[0]).toEqual({
      order: 1,
      matcher: { "==": [{ var: "dimension.service" }, "code"] },
      computation: { var: "attribute.context_tokens" },
    });
    expect(book.eventSchemas[0]?.enrichments.fields[0]?.value).toEqual({
      "/": [{ var: "attribute.context_tokens" }, { var: "dependencies.per_unit" }],
    });
  });

  test("S4.3 orders enrichment fields and computations", () => {
    const { eventSchemas, usageMeters } = readBook(
      changedBook(
        ["eventSchemas[0].enrichments.fields[2].order", 0],
        ["usageMeters[1].computations", [{ order: 7 }, { order: 3 }]],
      ),
    );
    expect(eventSchemas[0]?.enrichments.fields.map(({ name }) => name)).toEqual(["region", "kilotokens", "doubled"]);
    expect(usageMeters[1]?.computations.map(({ order }) => order)).toEqual([3, 7]);
  });

  test("S4.2 names settings by their full key in lower case", () => {
    const { eventSchemas } = readBook(changedBook(["eventSchemas[0].enrichments.dependencies[0].key", "PER_UNIT"]));
    expect(eventSchemas[0]?.enrichments.dependencies[0]?.key).toBe("setting.user.per_unit");
    expect(book.settings[1]).toMatchObject({ namespace: "user", entityType: "ORGANIZATION", entityId: "acme" });
  });

  test("S4.3 represents constants as decimals or texts", () => {
    const { eventSchemas } = readBook(
      changedBook(
        ["eventSchemas[0].enrichments.fields[2].value", 1.5],
        [
          "eventSchemas[0].enrichments.fields[3]",
          { name: "n", type: "ATTRIBUTE", enrichmentType: "VALUE", value: "2.50", order: 9 },
        ],
      ),
    );
    const [, , region, n] = eventSchemas[0]?.enrichments.fields ?? [];
    expect(region?.value).toBe("1.5");
    expect(n?.value).toEqual(new Decimal("2.5"));
  });

  test("S11.2 lists each feature association on its event schema", () => {
    expect(book.eventSchemas.map(({ featureDetails }) => featureDetails)).toEqual([
      { featureId: "feature.tokens", attributeName: "generated_tokens" },
      { featureId: "feature.logins", attributeName: "count" },
      undefined,
    ]);
    expect(book.features[1]?.schemaAssociations).toEqual([{ schemaName: "login", attributeName: "count" }]);
  });

  test("S11.2 takes the details of a bare association from featureDetails", () => {
    const { eventSchemas } = readBook(
      changedBook(
        ["features[0].schemaAssociations", ["llm_request"]],
        ["eventSchemas[0].featureDetails", { featureId: "Tokens", attributeName: "kilotokens" }],
      ),
    );
    expect(eventSchemas[0]?.featureDetails).toEqual({ featureId: "feature.tokens", attributeName: "kilotokens" });
  });

  test("S11.2 uses the first declared attribute for a bare association, and 1 for each event if none is declared", () => {
    const bare = ["features[0].schemaAssociations", ["llm_request"]] as const;
    expect(readBook(changedBook(bare)).eventSchemas[0]?.featureDetails?.attributeName).toBe("context_tokens");
    const { eventSchemas } = readBook(changedBook(["eventSchemas[1].attributes", []]));
    expect(eventSchemas[1]?.featureDetails).toEqual({ featureId: "feature.logins", attributeName: "" });
  });

  test("has display names: the display name, else the billable name, else the name", () => {
    expect(book.usageMeters.map(({ displayName }) => displayName)).toEqual(["context tokens", "API requests"]);
    const namedBook = readBook(changedBook(["addOns[0].billableName", "Fee"], ["features[0].displayName", "T"]));
    expect([namedBook.addOns[0]?.displayName, namedBook.features[0]?.displayName]).toEqual(["Fee", "T"]);
  });

  test("has the organization's currency, aliases as texts, and generated ids by position", () => {
    const [account] = book.accounts;
    expect(account).toMatchObject({ invoiceCurrency: "USD", aliases: ["c-1", "c-2"] });
    expect(account?.credits[0]?.id).toBe("contoso-prod.credit.1");
    expect(account?.featureCredits[0]?.id).toBe("contoso-prod.featureCredit.1");
  });

  test("has every field that an account may have", () => {
    const [read] = readBook(changedBook(["accounts[0].tags", ["a"]], ["accounts[0].netTermDays", 30])).accounts;
    expect(Object.keys(read ?? {}).toSorted()).toEqual(Object.keys(account.shape).toSorted());
    expect(Object.keys(read?.pricePlans[0] ?? {}).toSorted()).toEqual(fieldsOf("pricePlans"));
    expect(Object.keys(read?.licenseUpdates[0] ?? {}).toSorted()).toEqual(fieldsOf("licenseUpdates"));
    expect(Object.keys(read?.credits[0] ?? {}).toSorted()).toEqual(fieldsOf("credits"));
    expect(Object.keys(read?.featureCredits[0] ?? {}).toSorted()).toEqual(fieldsOf("featureCredits"));
    expect(read).toMatchObject({ tags: ["a"], netTermDays: 30 });
  });

  test("S16.6 has no archived aliases and no aliases of archived accounts", () => {
    const { accounts } = readBook(
      changedBook(
        ["accounts[0].aliases[1].status", "ARCHIVED"],
        ["accounts[1].status", "ARCHIVED"],
        ["accounts[1].aliases", ["c-1"]],
      ),
    );
    expect(accounts.map(({ aliases }) => aliases)).toEqual([["c-1"], []]);
  });

  test("associates the latest ACTIVE version if no version is given, else the latest DRAFT", () => {
    const [plan] = sampleBook().pricePlans ?? [];
    const version = (list: readonly (readonly [number, string])[]): number | undefined =>
      readBook(changedBook(["pricePlans", list.map(([number, status]) => ({ ...plan, version: number, status }))]))
        .accounts[0]?.pricePlans[0]?.version;
    expect(
      version([
        [2, "ACTIVE"],
        [1, "ACTIVE"],
        [3, "DRAFT"],
        [4, "ARCHIVED"],
      ]),
    ).toBe(2);
    expect(
      version([
        [2, "DRAFT"],
        [5, "DRAFT"],
        [6, "ARCHIVED"],
      ]),
    ).toBe(5);
  });

  test("keeps an association with an archived version that it names explicitly", () => {
    expect(foundIn(["pricePlans[0].status", "ARCHIVED"], ["accounts[0].pricePlans[0].version", 1])).toEqual([]);
  });

  test("S2.1 reads 9999-01-01 as no end", () => {
    const { accounts } = readBook(
      changedBook(
        ["accounts[0].pricePlans[0].effectiveUntil", "9999-01-01T00:00:00.000Z"],
        ["accounts[0].credits[0].effectiveUntil", "9999-01-01"],
      ),
    );
    expect(accounts[0]?.pricePlans[0]?.effectiveUntil).toBeUndefined();
    expect(accounts[0]?.credits[0]?.effectiveUntil).toBeUndefined();
  });

  test("takes null as absent", () => {
    const nulls = changedBook(
      ["settings[0].namespace", null],
      ["accounts[1].aliases", null],
      ["pricePlans[0].pricePlanDetails.fixedFeeRateCards[0].invoiceTiming", null],
      ["pricePlans[0].pricePlanDetails.rateDetails", null],
      ["pricePlans[0].pricePlanDetails.type", null],
      ["pricePlans[0].description", null],
    );
    expect(foundIn()).toEqual([]);
    expect(readBook(nulls).pricePlans[0]?.pricePlanDetails.fixedFeeRateCards[0]?.invoiceTiming).toBe("IN_ARREARS");
  });

  test("accepts values of slab configs as text or as JSON", () => {
    const slab = "pricePlans[0].pricePlanDetails.usageRateCards[0].ratePlan.slabs[0]";
    for (const chargeAtZero of [true, "true"]) {
      const read = readBook(changedBook([`${slab}.slabConfig`, { packageSize: "1000", chargeAtZero }]));
      const config = read.pricePlans[0]?.pricePlanDetails.usageRateCards[0]?.ratePlan.slabs[0]?.slabConfig;
      expect([config?.chargeAtZero, String(config?.packageSize)]).toEqual([true, "1000"]);
    }
  });

  test("S12.2 credits may apply to all cards of a kind", () => {
    const ids = ["ALL_USAGE_METER_RATE_CARDS", "Tokens", "addon.seats"];
    const read = readBook(changedBook(["accounts[0].credits[0].applicableEntityIds", ids]));
    expect(read.accounts[0]?.credits[0]?.applicableEntityIds).toEqual([
      "ALL_USAGE_METER_RATE_CARDS",
      "feature.tokens",
      "addon.seats",
    ]);
  });

  test("resolves a shared name to the resource that is not archived", () => {
    const read = readBook(
      changedBook(
        ["addOns[3]", { id: "addon.old", name: "Seats", type: "LICENSE", status: "ARCHIVED" }],
        ["accounts[0].licenseUpdates[0].licenseId", "Seats"],
      ),
    );
    expect(read.accounts[0]?.licenseUpdates[0]?.licenseId).toBe("addon.seats");
  });

  test("leaves the input unchanged", () => {
    const input = sampleBook();
    readBook(input);
    expect(input).toEqual(sampleBook());
  });

  test("may be empty", () => {
    expect(readBook({})).toMatchObject({
      organization: { id: "default", baseCurrency: "USD", rounding: "HALF_UP" },
      accounts: [],
    });
  });

  test("keeps metadata unchanged, with any field names", () => {
    const metadata: unknown = JSON.parse('{"__proto__":{"polluted":true},"a":[1,{"b":null}]}');
    const read = readBook(changedBook(["accounts[0].metadata", metadata]));
    expect(read.accounts[0]?.metadata).toEqual(metadata);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

describe("a book as text", () => {
  test("S1.2 keeps every digit of a number", () => {
    const text = stringifyJson(sampleBook()).replace('"rate":20', '"rate":0.12345678901234567890');
    const card = readBook(text).pricePlans[0]?.pricePlanDetails.fixedFeeRateCards[0];
    expect(card?.rateValues[0]?.rate.toFixed()).toBe("0.1234567890123456789");
  });

  test("is rejected if it is not JSON", () => {
    expect(listProblems(() => readBook('{"accounts": ['))).toEqual(["$: not JSON: the text ends early"]);
  });

  test.each([["5"], ["null"], ['"text"'], ["[]"]])("is rejected with %s", (text) => {
    expect(listProblems(() => readBook(text))).toEqual([expect.stringMatching(/^\$: expected an object, got /)]);
  });

  test("rejects the field __proto__, and reports the other problems too", () => {
    expect(listProblems(() => readBook('{"__proto__": {"accounts": 5}, "addOns": [{"__proto__": 1}]}'))).toEqual([
      "$.__proto__: unknown field",
      "$.addOns[0].__proto__: unknown field",
      "$.addOns[0].id: missing: expected a string",
      "$.addOns[0].name: missing: expected a string",
      '$.addOns[0].type: missing: expected "LICENSE", "FIXED_FEE" or "CREDIT_GRANT"',
    ]);
  });
});

describe("the problems of a book", () => {
  test("report a key that is both unknown and repeated once", () => {
    const fields = '"id":"acme","name":"Acme","primaryEmail":"a@b.co","adress":{},"adress":{}';
    expect(listProblems(() => readBook(`{"customers":[{${fields}}]}`))).toEqual([
      '$.customers[0].adress: unknown field: did you mean "address"?',
    ]);
  });

  test("report a misspelt required field once", () => {
    const meter = '"id":"um.calls","name":"Calls","agregation":"COUNT","eventSchemaName":"call"';
    expect(listProblems(() => readBook(`{"eventSchemas":[{"name":"call"}],"usageMeters":[{${meter}}]}`))).toEqual([
      '$.usageMeters[0].agregation: unknown field: did you mean "aggregation"?',
      "$.usageMeters[0].computations: missing: expected a list",
    ]);
  });

  test("are reported together, in document order, with the count and the first one in the message", () => {
    const readBroken = (): unknown =>
      readBook(
        changedBook(
          ["accounts[1].customerId", "nobody"],
          ["pricePlans[0].pricePlanDetails.usageRateCards[0].usageMeterId", "um.x"],
          ["pricePlans[0].pricePlanDetails.fixedFeeRateCards[0].rateValues[0].rate", "1,000"],
          ["colour", "red"],
          ["usageMeters[0].computations[0].order", "first"],
        ),
      );
    expect(listProblems(readBroken)).toEqual([
      '$.usageMeters[0].computations[0].order: expected a number, got "first"',
      '$.pricePlans[0].pricePlanDetails.usageRateCards[0].usageMeterId: expected the id or name of a usage meter, got "um.x"',
      '$.pricePlans[0].pricePlanDetails.fixedFeeRateCards[0].rateValues[0].rate: expected a decimal, got "1,000"',
      '$.accounts[1].customerId: expected the id or name of a customer, got "nobody"',
      "$.colour: unknown field",
    ]);
    expect(readBroken).toThrow(
      'the book has 5 problems, the first of them: $.usageMeters[0].computations[0].order: expected a number, got "first"',
    );
  });

  test("are found in an item even if another part of it is invalid", () => {
    const card = "pricePlans[0].pricePlanDetails.usageRateCards";
    expect(
      foundIn(
        [`${card}[0].rateValues[0].slabRates[0].rate`, "x"],
        [
          `${card}[1]`,
          {
            usageMeterId: "um.x",
            ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 3, priceType: "FLAT" }] },
            rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 1 }] }],
          },
        ],
        ["pricePlans[0].name", ""],
      ),
    ).toEqual([
      "$.pricePlans[0].name: expected at least 1 character, got 0",
      `$.${card}[0].rateValues[0].slabRates[0].rate: expected a decimal, got "x"`,
      `$.${card}[1].usageMeterId: expected the id or name of a usage meter, got "um.x"`,
      `$.${card}[1].ratePlan.slabs[0].startAfter: expected 0, the start of the first slab, got 3`,
    ]);
  });

  test("are at most a thousand, with a line that counts the others", () => {
    const problems = listProblems(() =>
      readBook({ customers: Array.from({ length: 1500 }, (_, index) => ({ id: `c-${index}`, name: "x" })) }),
    );
    expect(problems).toHaveLength(1001);
    expect(problems[999]).toMatch(/^\$\.customers\[999\]\.name: /);
    expect(problems[1000]).toBe("$: and 500 more problems");
  });

  test("quote an unusual key, truncated", () => {
    expect(foundIn(["accounts[0]", { ...sampleBook().accounts?.[0], "a b": 1 }])).toEqual([
      '$.accounts[0]["a b"]: unknown field',
    ]);
    const problems = listProblems(() => readBook({ ["x".repeat(100)]: 1 }));
    expect(problems).toEqual([`$["${"x".repeat(60)}…"]: unknown field`]);
  });
});

describe("a malicious book", () => {
  const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  test("is rejected if nested too deep, as text and as a value", () => {
    const message = "nested more than 200 levels deep";
    expect(listProblems(() => readBook(`{"accounts":${deep(1_000_000)}}`))).toEqual([
      // 12 characters, one object and 199 lists come before the list that is too deep.
      `$: ${message} at line 1, column 212`,
    ]);
    expect(listProblems(() => parseBook({ accounts: JSON.parse(deep(1000)) as unknown }))).toEqual([
      `$.accounts[0][0]: ${message}`,
    ]);
    expect(foundIn(["accounts[0].metadata", { a: JSON.parse(deep(250)) as unknown }])).toEqual([
      `$.accounts[0].metadata: ${message}`,
    ]);
  });

  test("may have any number of brackets in its texts", () => {
    const brackets = `\\"${"[{".repeat(300)}`;
    const text = stringifyJson(changedBook(["accounts[0].metadata", { brackets }]));
    expect(readBook(text).accounts[0]?.metadata).toEqual({ brackets });
  });

  test("is rejected at a rule of 65 levels", () => {
    let rule: unknown = 1;
    for (let level = 0; level < 65; level++) rule = { "!": [rule] };
    expect(foundIn(["usageMeters[0].computations[0].matcher", rule])).toEqual([
      "$.usageMeters[0].computations[0].matcher: in the rule: the rule is nested more than 64 levels deep",
    ]);
  });

  test("S7.1 with 10,000 slabs is read", () => {
    const card = "pricePlans[0].pricePlanDetails.usageRateCards[0]";
    const slabs = Array.from({ length: 10_000 }, (_, at) => ({
      order: at + 1,
      startAfter: at * 10,
      priceType: "PER_UNIT",
    }));
    const slabRates = slabs.map(({ order }) => ({ order, rate: "0.01" }));
    const problems = foundIn([`${card}.ratePlan.slabs`, slabs], [`${card}.rateValues[0].slabRates`, slabRates]);
    expect(problems).toEqual([]);
  });
});

describe("checkPlan", () => {
  const draft = (): object => ({ ...sampleBook().pricePlans?.[0], id: "pp.draft", name: "Draft", status: "DRAFT" });

  test("reads a plan for a book", () => {
    const plan = parsePlan(draft(), book);
    expect(plan.pricePlanDetails.usageRateCards[0]?.usageMeterId).toBe("um.context");
    expect(plan.status).toBe("DRAFT");
    expect(checkPlan(JSON.stringify(draft()), book)).toEqual(plan);
  });

  test("reports problems with paths in the plan", () => {
    const badDraft = { ...draft(), version: 0, pricePlanDetails: { usageRateCards: [{ usageMeterId: "um.x" }] } };
    expect(listProblems(() => parsePlan(badDraft, book)).map((problem) => problem.split(": ")[0])).toEqual([
      "$.version",
      "$.pricePlanDetails.usageRateCards[0].usageMeterId",
      "$.pricePlanDetails.usageRateCards[0].ratePlan",
      "$.pricePlanDetails.usageRateCards[0].rateValues",
    ]);
  });

  test("S16.1 requires cycles and currencies", () => {
    expect(listProblems(() => checkPlan({ id: "p", name: "P", pricePlanDetails: {} }, book))).toEqual([
      "$.pricePlanDetails.pricingCycleConfig: missing: expected one, to associate the price plan with an account",
      "$.pricePlanDetails.supportedCurrencies: missing: expected at least one currency, to associate the price plan with an account",
    ]);
  });

  test("rejects a value that is not a plan", () => {
    expect(listProblems(() => parsePlan([], book))).toEqual(["$: expected an object, got an empty list"]);
    expect(() => checkPlan("{", book)).toThrow("the price plan has a problem: $: not JSON");
  });
});
