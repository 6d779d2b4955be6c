import { expect, test } from "vitest";

import { accountStates, createAccountFinder } from "../../src/ledger/events/metered-accounts.ts";
import { accountOf, bookOf } from "./support.ts";

test("S14.1 an account is found by id and alias, again and again, among names that end alike", () => {
  const names = Array.from({ length: 300 }, (_, index) => `${String.fromCharCode(97 + (index % 26))}${index >> 4}-end`);
  const accounts = [...new Set(names)].map((name) => accountOf(name, { aliases: [`also.${name}`] }));
  const states = accountStates(bookOf({ accounts }).accounts);
  const find = createAccountFinder(states);
  for (let round = 0; round < 3; round++) {
    for (const name of names) {
      expect(find(name)?.id).toBe(name);
      expect(find(`also.${name}`)?.id).toBe(name);
      expect(find(`no.${name}`)).toBeUndefined();
    }
  }
});

test("S14.1 no account has an empty or a strange name, nor is there one in a book without accounts", () => {
  for (const accounts of [[], [accountOf("prod")]]) {
    const find = createAccountFinder(accountStates(bookOf({ accounts }).accounts));
    for (const name of ["", "x", "__proto__", "constructor", "\u{1f600}"]) expect(find(name)).toBeUndefined();
  }
});
