/** Reasons of charges, which are stored in English, in the languages of invoices. */
import { describe, expect, test } from "vitest";

import { ENGLISH, FRENCH, GERMAN } from "../../src/invoicing/invoice-words.ts";

describe("S19.1 what decided a quantity", () => {
  test.each([
    [
      "the peak in the billing period: 12001.5 on 2026-10-14",
      "Höchststand im Abrechnungszeitraum: 12001,5 am 2026-10-14",
      "pic dans la période de facturation : 12001,5 le 2026-10-14",
    ],
    [
      "the lowest values of 4 groups in the billing period: us: 2 on 2026-10-02; gpt-4.5: 3 on 2026-10-03; and 2 more groups",
      "niedrigste Werte von 4 Gruppen im Abrechnungszeitraum: us: 2 am 2026-10-02; gpt-4.5: 3 am 2026-10-03; und 2 weitere",
      "valeurs minimales de 4 groupes dans la période de facturation : us: 2 le 2026-10-02; gpt-4.5: 3 le 2026-10-03 ; et 2 autres",
    ],
    [
      "the sum of the peaks of 3 days in 2 groups: at most 48 on 2026-10-14",
      "Summe über 3 Tage, Höchststände in 2 Gruppen: höchstens 48 am 2026-10-14",
      "somme sur 3 jours, pics dans 2 groupes : au plus 48 le 2026-10-14",
    ],
    [
      "the sum of the average levels of 1 day: at most 4 on 2026-10-14",
      "Summe über 1 Tag, durchschnittliche Stände: höchstens 4 am 2026-10-14",
      "somme sur 1 jour, niveaux moyens : au plus 4 le 2026-10-14",
    ],
    [
      "the number of different values in the billing period: 7, 2 of them new on 2026-10-03",
      "Anzahl verschiedener Werte im Abrechnungszeitraum: 7, 2 davon neu am 2026-10-03",
      "nombre de valeurs différentes dans la période de facturation : 7, dont 2 nouvelles le 2026-10-03",
    ],
    [
      "the number of different values in the billing period: 2, all of them new on 2026-10-03",
      "Anzahl verschiedener Werte im Abrechnungszeitraum: 2, alle davon neu am 2026-10-03",
      "nombre de valeurs différentes dans la période de facturation : 2, toutes nouvelles le 2026-10-03",
    ],
    [
      "the last value in the billing period: 7 from 2026-09-12T08:00Z, before the billing period",
      "letzter Wert im Abrechnungszeitraum: 7 ab 2026-09-12T08:00Z, vor dem Abrechnungszeitraum",
      "dernière valeur dans la période de facturation : 7 depuis 2026-09-12T08:00Z, avant la période de facturation",
    ],
    [
      "the average level in the billing period: 40 from before the billing period for 1 day; 0.5 from 2026-10-02T00:00Z for 2.5 days; and 1 more level; 3 days to come count as 0",
      "durchschnittlicher Stand im Abrechnungszeitraum: 40 aus der Zeit vor dem Abrechnungszeitraum für 1 Tag; 0,5 ab 2026-10-02T00:00Z für 2,5 Tage; und 1 weitere; 3 künftige Tage zählen als 0",
      "niveau moyen dans la période de facturation : 40 d’avant la période de facturation pendant 1 jour; 0,5 depuis 2026-10-02T00:00Z pendant 2,5 jours ; et 1 autre ; 3 jours à venir comptent pour 0",
    ],
    [
      "the average level in the billing period: 100 from the end of 2026-10-03; 1 day to come counts as 0",
      "durchschnittlicher Stand im Abrechnungszeitraum: 100 ab dem Ende des 2026-10-03; 1 künftiger Tag zählt als 0",
      "niveau moyen dans la période de facturation : 100 depuis la fin du 2026-10-03 ; 1 jour à venir compte pour 0",
    ],
  ])("%s", (english, german, french) => {
    const format = (number: string): string => number.replace(".", ",");
    expect(ENGLISH.reason(english, false, {})).toBe(english);
    expect(GERMAN.reason(english, false, { format })).toBe(german);
    expect(FRENCH.reason(english, false, { format })).toBe(french);
  });
});

test.each([
  [1, 1, "for 1 of 1 day", "für 1 von 1 Tag", "pour 1 jour sur 1"],
  [1, 30, "for 1 of 30 days", "für 1 von 30 Tagen", "pour 1 jour sur 30"],
  [2, 30, "for 2 of 30 days", "für 2 von 30 Tagen", "pour 2 jours sur 30"],
])("S8.1 %d of %d days", (days, of, english, german, french) => {
  const reason = `quantity 5 for ${days} of ${of} days`;
  expect([ENGLISH, GERMAN, FRENCH].map((words) => words.reason(reason, false, {}))).toEqual([
    `quantity 5 ${english}`,
    `Menge 5 ${german}`,
    `quantité 5 ${french}`,
  ]);
  const shares = [ENGLISH, GERMAN, FRENCH].map((words) => words.share("9", { days, of }, false));
  expect(shares).toEqual([`9 ${english}`, `9 ${german}`, `9 ${french}`]);
});

test.each([
  [ENGLISH, "first 1", "next 1"],
  [GERMAN, "erste 1", "nächste 1"],
  [FRENCH, "première unité", "1 unité suivante"],
])("a tier of one unit", (words, first, next) => {
  expect([words.firstUnits("1"), words.nextUnits("1")]).toEqual([first, next]);
});
