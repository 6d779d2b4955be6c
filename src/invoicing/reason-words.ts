/** The reasons of charges in each language: they are stored in English. */

/** Whole days of a number of days. */
export interface DayShare {
  readonly days: number;
  readonly of: number;
}

/** What a part of a charge is for. Any other reason stays as it is. */
export type TranslateReason = (reason: string, isSubtracted: boolean, figures: ReasonFigures) => string;

/** The quantity of a part, and how numbers of a sentence are formatted; absent: they stay as stored. */
export interface ReasonFigures {
  readonly quantity?: string | undefined;
  readonly format?: ((number: string) => string) | undefined;
}

/** Stored invoices have explanations in the wording of the version that wrote them. */
const OLDER_REASONS: ReadonlyMap<string, string> = new Map([
  ["the usage of the cycle", "usage in the billing period"],
  ["the sub-totals of the cycle's invoices", "charges in the billing period"],
]);

/** Reasons of charges in a language. */
interface ReasonWords {
  readonly less: string;
  /** By the English reason. */
  readonly reasons: Readonly<Record<string, string>>;
  /** A quantity of licenses, and what holds for it. */
  readonly quantity: (units: string, state: LicenseState, share: DayShare | undefined) => string;
  /** What decided a quantity that is no sum (S19); absent in English. */
  readonly decided?: {
    /** By the English name. */
    readonly names: Readonly<Record<string, string>>;
    /** In order; names are in the language already. */
    readonly phrases: readonly (readonly [english: RegExp, words: string])[];
  };
}

type LicenseState = "" | " already charged" | " still charged" | ", not prorated";

const LICENSE_REASON =
  /^quantity (\d\S*?)( already charged| still charged|, not prorated)?(?: for (\d+) of (\d+) days)?$/;

/** Translates the reasons of charges, of which there are a few. */
function translateReasons({ less, reasons, quantity: describe, decided }: ReasonWords): TranslateReason {
  const known = new Map(Object.entries(reasons));
  const translate = (reason: string, { quantity, format }: ReasonFigures): string => {
    if (DECIDED.test(reason)) {
      const named = reason.replace(DECIDED, (_, start: string, name: string) => start + (decided?.names[name] ?? name));
      const text = (decided?.phrases ?? []).reduce(
        (words, [english, other]) => words.replaceAll(english, other),
        named,
      );
      return format === undefined ? text : formatNumbersIn(text, format);
    }
    const [, number, state = "", days, of] = LICENSE_REASON.exec(reason) ?? [];
    if (number === undefined) return known.get(reason) ?? reason;
    const share = days === undefined ? undefined : { days: Number(days), of: Number(of) };
    return describe(quantity ?? number, state as LicenseState, share);
  };
  return (reason, isSubtracted, figures) => {
    const current = OLDER_REASONS.get(reason) ?? reason;
    if (!isSubtracted) return translate(current, figures);
    const isEarlierCharge = current === "charges in the billing period";
    return isEarlierCharge ? translate("already charged", figures) : `${less} ${translate(current, figures)}`;
  };
}

/** The start of a sentence on what decided a quantity, with the name of the quantity. */
const DECIDED =
  /^(the (?:sum of the )?)(peaks?|lowest values?|numbers? of different values|last values?|average levels?)(?= of | in )/;

export function formatDays({ days, of }: DayShare): string {
  return `${days} of ${of} ${of === 1 ? "day" : "days"}`;
}

export const ENGLISH_REASONS = /* @__PURE__ */ translateReasons({
  less: "less",
  reasons: {},
  quantity: (units, state, share) =>
    `quantity ${units}${state}${share === undefined ? "" : ` for ${formatDays(share)}`}`,
});

export function formatGermanDays({ days, of }: DayShare): string {
  return `für ${days} von ${of} ${of === 1 ? "Tag" : "Tagen"}`;
}

const GERMAN_STATES: Readonly<Record<LicenseState, string>> = {
  "": "",
  " already charged": ", bereits berechnet,",
  " still charged": ", weiterhin berechnet,",
  ", not prorated": ", nicht anteilig",
};

export const GERMAN_REASONS = /* @__PURE__ */ translateReasons({
  quantity: (units, state, share) =>
    `Menge ${units}${GERMAN_STATES[state]}${share === undefined ? "" : ` ${formatGermanDays(share)}`}`,
  less: "abzüglich",
  reasons: {
    "usage in the billing period": "Nutzung im Abrechnungszeitraum",
    "overage in the billing window": "Mehrnutzung im Abrechnungszeitraum",
    "granted feature credits": "gewährtes Guthaben",
    "granted credit": "gewährtes Guthaben",
    "prorated fee": "anteilige Gebühr",
    "full fee": "volle Gebühr",
    "minimum commitment of the billing period": "Mindestumsatz des Abrechnungszeitraums",
    "charges in the billing period": "Entgelte im Abrechnungszeitraum",
    "already charged": "bereits berechnet",
    "refunds for unused days": "Erstattung für ungenutzte Tage",
  },
  decided: {
    names: {
      peak: "Höchststand",
      peaks: "Höchststände",
      "lowest value": "niedrigster Wert",
      "lowest values": "niedrigste Werte",
      "number of different values": "Anzahl verschiedener Werte",
      "numbers of different values": "Anzahl verschiedener Werte",
      "last value": "letzter Wert",
      "last values": "letzte Werte",
      "average level": "durchschnittlicher Stand",
      "average levels": "durchschnittliche Stände",
    },
    phrases: [
      [/^the sum of the (.+?) of 1 day\b/g, "Summe über 1 Tag, $1"],
      [/^the sum of the (.+?) of (\d+) days\b/g, "Summe über $2 Tage, $1"],
      [/ in (\d+) groups(?=: at most )/g, " in $1 Gruppen"],
      [/: at most (?=[\d.-]+ on \d{4}-)/g, ": höchstens "],
      [/^the (.+?) of (\d+) groups in the billing period: /g, "$1 von $2 Gruppen im Abrechnungszeitraum: "],
      [/^the (.+?) in the billing period: /g, "$1 im Abrechnungszeitraum: "],
      [/, all of them new on (?=\d{4}-)/g, ", alle davon neu am "],
      [/ of them new on (?=\d{4}-)/g, " davon neu am "],
      [/ on (?=\d{4}-\d\d-\d\d)/g, " am "],
      [/, before the billing period/g, ", vor dem Abrechnungszeitraum"],
      [/ from before the billing period/g, " aus der Zeit vor dem Abrechnungszeitraum"],
      [/ from the end of (?=\d{4}-)/g, " ab dem Ende des "],
      [/ from (?=\d{4}-)/g, " ab "],
      [/ for 1 day(?=;|$)/g, " für 1 Tag"],
      [/ for ([\d.]+) days(?=;|$)/g, " für $1 Tage"],
      [/; and (\d+) more (?:groups?|levels?)/g, "; und $1 weitere"],
      [/; 1 day to come counts as 0$/g, "; 1 künftiger Tag zählt als 0"],
      [/; (\d+) days to come count as 0$/g, "; $1 künftige Tage zählen als 0"],
    ],
  },
});

export function formatFrenchDays({ days, of }: DayShare): string {
  return `pour ${days} ${days === 1 ? "jour" : "jours"} sur ${of}`;
}

const FRENCH_STATES: Readonly<Record<LicenseState, string>> = {
  "": "",
  " already charged": ", déjà facturée,",
  " still charged": ", toujours facturée,",
  ", not prorated": ", sans prorata",
};

export const FRENCH_REASONS = /* @__PURE__ */ translateReasons({
  quantity: (units, state, share) =>
    `quantité ${units}${FRENCH_STATES[state]}${share === undefined ? "" : ` ${formatFrenchDays(share)}`}`,
  less: "moins",
  reasons: {
    "usage in the billing period": "utilisation de la période de facturation",
    "overage in the billing window": "dépassement de la période de facturation",
    "granted feature credits": "crédits accordés",
    "granted credit": "crédit accordé",
    "prorated fee": "forfait au prorata",
    "full fee": "forfait entier",
    "minimum commitment of the billing period": "engagement minimum de la période de facturation",
    "charges in the billing period": "montants de la période de facturation",
    "already charged": "déjà facturé",
    "refunds for unused days": "remboursement des jours non utilisés",
  },
  decided: {
    names: {
      peak: "pic",
      peaks: "pics",
      "lowest value": "valeur minimale",
      "lowest values": "valeurs minimales",
      "number of different values": "nombre de valeurs différentes",
      "numbers of different values": "nombre de valeurs différentes",
      "last value": "dernière valeur",
      "last values": "dernières valeurs",
      "average level": "niveau moyen",
      "average levels": "niveaux moyens",
    },
    phrases: [
      [/^the sum of the (.+?) of 1 day\b/g, "somme sur 1 jour, $1"],
      [/^the sum of the (.+?) of (\d+) days\b/g, "somme sur $2 jours, $1"],
      [/ in (\d+) groups(?=: at most )/g, " dans $1 groupes"],
      [/: at most (?=[\d.-]+ on \d{4}-)/g, " : au plus "],
      [/^the (.+?) of (\d+) groups in the billing period: /g, "$1 de $2 groupes dans la période de facturation : "],
      [/^the (.+?) in the billing period: /g, "$1 dans la période de facturation : "],
      [/, all of them new on (?=\d{4}-)/g, ", toutes nouvelles le "],
      [/, ([\d.]+) of them new on (?=\d{4}-)/g, ", dont $1 nouvelles le "],
      [/ on (?=\d{4}-\d\d-\d\d)/g, " le "],
      [/, before the billing period/g, ", avant la période de facturation"],
      [/ from before the billing period/g, " d’avant la période de facturation"],
      [/ from the end of (?=\d{4}-)/g, " depuis la fin du "],
      [/ from (?=\d{4}-)/g, " depuis "],
      [/ for 1 day(?=;|$)/g, " pendant 1 jour"],
      [/ for ([\d.]+) days(?=;|$)/g, " pendant $1 jours"],
      [/; and 1 more (?:group|level)/g, " ; et 1 autre"],
      [/; and (\d+) more (?:groups|levels)/g, " ; et $1 autres"],
      [/; 1 day to come counts as 0$/g, " ; 1 jour à venir compte pour 0"],
      [/; (\d+) days to come count as 0$/g, " ; $1 jours à venir comptent pour 0"],
    ],
  },
});

/** Formats the numbers of a sentence; dates, and names with digits such as `gpt-4-32000`, are unchanged. */
export function formatNumbersIn(sentence: string, format: (number: string) => string): string {
  const part = /\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?|\p{L}[\p{L}\p{N}_.-]*|\d+(?:,\d{3})*(?:\.\d+)?/gu;
  return sentence.replaceAll(part, (text) => (/^[\d,.]+$/.test(text) ? format(text.replaceAll(",", "")) : text));
}
