/** The words of invoices, in each language. Names of items, credits and notices are the host's own texts. */
import type { CreditKind } from "../credits/monetary-credits.ts";
import type { InvoiceType } from "./invoice.ts";
import {
  type DayShare,
  ENGLISH_REASONS,
  formatDays,
  formatFrenchDays,
  formatGermanDays,
  FRENCH_REASONS,
  GERMAN_REASONS,
  type TranslateReason,
} from "./reason-words.ts";

/** The words of lines and their notes; numbers and amounts are formatted. */
export interface LineWords {
  readonly allUnits: string;
  readonly firstUnits: (units: string) => string;
  readonly nextUnits: (units: string) => string;
  readonly unitsAbove: (units: string) => string;
  readonly unitsUpTo: (units: string) => string;
  readonly lowered: string;
  readonly raised: string;
  readonly packages: (count: string, isOne: boolean) => string;
  readonly increasedBy: (amount: string) => string;
  readonly atLeast: (amount: string) => string;
  readonly atMost: (amount: string) => string;
  readonly minimumZero: string;
  readonly otherUsage: string;
  readonly allOfGroup: string;
  readonly ratesByGroup: string;
  readonly freeUnits: (list: string) => string;
  readonly freeUnitsOf: (units: string, group: string) => string;
  readonly moreGroups: (count: number) => string;
  readonly chargedBefore: (units: string) => string;
  /** A label with what follows its colon. */
  readonly withPrice: (label: string, price: string) => string;
  /** An amount for some days. `isNamed`: the sentence before it names the days. */
  readonly share: (amount: string, share: DayShare, isNamed: boolean) => string;
  readonly reason: TranslateReason;
}

/** The words of an invoice. */
export interface InvoiceWords extends LineWords {
  readonly titles: Readonly<Record<InvoiceType, string>>;
  readonly draft: string;
  readonly from: string;
  readonly billTo: string;
  readonly number: string;
  readonly date: string;
  readonly due: string;
  readonly period: string;
  readonly account: string;
  readonly plan: string;
  readonly group: string;
  readonly reference: string;
  readonly description: string;
  readonly quantity: string;
  readonly unitPrice: string;
  readonly amount: string;
  readonly invoiceOf: (number: string) => string;
  readonly flat: string;
  readonly free: string;
  readonly perMillion: string;
  readonly subTotal: string;
  /** The name of a minimum commitment without a name of its own. */
  readonly commitment: string;
  /** The names of credits that have none of their own. */
  readonly creditKinds: Readonly<Partial<Record<CreditKind, string>>>;
  readonly credit: (name: string) => string;
  readonly taxOn: (name: string, taxable: string) => string;
  readonly reverseCharge: string;
  readonly total: string;
  readonly paid: string;
  readonly amountDue: string;
  readonly unpriced: string;
  readonly draftStatus: string;
  readonly dueStatus: (amount: string, date: string) => string;
  readonly paidStatus: string;
  /** If the amount due is 0 or less. */
  readonly nothingDueStatus: string;
  readonly mergedStatus: (number: string | undefined) => string;
}

export const ENGLISH: InvoiceWords = {
  allUnits: "all units",
  firstUnits: (units) => `first ${units}`,
  nextUnits: (units) => `next ${units}`,
  unitsAbove: (units) => `above ${units}`,
  unitsUpTo: (units) => `up to ${units}`,
  lowered: "lowered to the maximum",
  raised: "raised to the minimum",
  packages: (count, isOne) => `${count} ${isOne ? "package" : "packages"}`,
  increasedBy: (amount) => `plus ${amount}`,
  atLeast: (amount) => `at least ${amount}`,
  atMost: (amount) => `at most ${amount}`,
  minimumZero: "minimum 0",
  otherUsage: "other usage",
  allOfGroup: "all",
  ratesByGroup: "rates by group",
  freeUnits: (list) => `rates by group; free units: ${list}`,
  freeUnitsOf: (units, group) => `${units} of ${group}`,
  moreGroups: (count) => `and of ${count} more`,
  chargedBefore: (units) => `${units} already charged; the quantity is the increase above that`,
  withPrice: (label, price) => `${label}: ${price}`,
  share: (amount, share, isNamed) =>
    `${amount} ${isNamed ? `× ${share.days}/${share.of}` : `for ${formatDays(share)}`}`,
  reason: ENGLISH_REASONS,
  titles: { STANDARD: "Invoice", STANDARD_ADVANCED: "Invoice in advance", AD_HOC: "One-off invoice" },
  draft: "Draft",
  from: "From",
  billTo: "Bill to",
  number: "Invoice number",
  date: "Date",
  due: "Due",
  period: "Period",
  account: "Account",
  plan: "Plan",
  group: "Group",
  reference: "Your reference",
  description: "Description",
  quantity: "Quantity",
  unitPrice: "Unit price",
  amount: "Amount",
  invoiceOf: (number) => `Invoice ${number}`,
  flat: "flat",
  free: "free",
  perMillion: "per million",
  subTotal: "Subtotal",
  commitment: "Minimum commitment",
  creditKinds: { REFUND: "refund for unused days", NEGATIVE_INVOICE: "earlier invoice below zero" },
  credit: (name) => `Paid with credit: ${name}`,
  taxOn: (name, taxable) => `${name} on ${taxable}`,
  reverseCharge: "Reverse charge: the recipient accounts for the tax.",
  total: "Total",
  paid: "Paid",
  amountDue: "Amount due",
  unpriced: "Usage without a charge",
  draftStatus: "This is a draft. It can still change, and nothing is due yet.",
  dueStatus: (amount, date) => `${amount} due ${date}`,
  paidStatus: "Paid. Nothing is due.",
  nothingDueStatus: "Nothing is due.",
  mergedStatus: (number) => `Part of the invoice ${number ?? "of the group"}: pay that one.`,
};

export const GERMAN: InvoiceWords = {
  allUnits: "alle Einheiten",
  firstUnits: (units) => `erste ${units}`,
  nextUnits: (units) => `nächste ${units}`,
  unitsAbove: (units) => `über ${units}`,
  unitsUpTo: (units) => `bis ${units}`,
  lowered: "auf den Höchstbetrag gesenkt",
  raised: "auf den Mindestbetrag angehoben",
  packages: (count, isOne) => `${count} ${isOne ? "Paket" : "Pakete"}`,
  increasedBy: (amount) => `zuzüglich ${amount}`,
  atLeast: (amount) => `mindestens ${amount}`,
  atMost: (amount) => `höchstens ${amount}`,
  minimumZero: "mindestens 0",
  otherUsage: "übrige Nutzung",
  allOfGroup: "alle",
  ratesByGroup: "Preise je Gruppe",
  freeUnits: (list) => `Preise je Gruppe; Freimengen: ${list}`,
  freeUnitsOf: (units, group) => `${units} von ${group}`,
  moreGroups: (count) => `und von ${count} weiteren`,
  chargedBefore: (units) => `${units} bereits berechnet; die Menge ist die Erhöhung darüber`,
  withPrice: (label, price) => `${label}: ${price}`,
  share: (amount, share, isNamed) => `${amount} ${isNamed ? `× ${share.days}/${share.of}` : formatGermanDays(share)}`,
  reason: GERMAN_REASONS,
  titles: { STANDARD: "Rechnung", STANDARD_ADVANCED: "Rechnung im Voraus", AD_HOC: "Einzelrechnung" },
  draft: "Entwurf",
  from: "Rechnungssteller",
  billTo: "Rechnungsempfänger",
  number: "Rechnungsnummer",
  date: "Rechnungsdatum",
  due: "Fällig am",
  period: "Leistungszeitraum",
  account: "Konto",
  plan: "Tarif",
  group: "Gruppe",
  reference: "Ihre Referenz",
  description: "Beschreibung",
  quantity: "Menge",
  unitPrice: "Einzelpreis",
  amount: "Betrag",
  invoiceOf: (number) => `Rechnung ${number}`,
  flat: "pauschal",
  free: "kostenlos",
  perMillion: "je Million",
  subTotal: "Zwischensumme",
  commitment: "Mindestumsatz",
  creditKinds: { REFUND: "Erstattung für ungenutzte Tage", NEGATIVE_INVOICE: "frühere Rechnung unter null" },
  credit: (name) => `Mit Guthaben bezahlt: ${name}`,
  taxOn: (name, taxable) => `${name} auf ${taxable}`,
  reverseCharge: "Steuerschuldnerschaft des Leistungsempfängers",
  total: "Gesamtbetrag",
  paid: "Bezahlt",
  amountDue: "Zu zahlen",
  unpriced: "Nutzung ohne Berechnung",
  draftStatus: "Dies ist ein Entwurf. Er kann sich noch ändern, und es ist noch nichts fällig.",
  dueStatus: (amount, date) => `${amount} fällig am ${date}`,
  paidStatus: "Bezahlt. Es ist nichts fällig.",
  nothingDueStatus: "Es ist nichts fällig.",
  mergedStatus: (number) =>
    `Teil der ${number === undefined ? "Gruppenrechnung" : `Rechnung ${number}`}: Bitte diese bezahlen.`,
};

export const FRENCH: InvoiceWords = {
  allUnits: "toutes les unités",
  firstUnits: (units) => (units === "1" ? "première unité" : `${units} premières unités`),
  nextUnits: (units) => `${units} ${units === "1" ? "unité suivante" : "unités suivantes"}`,
  unitsAbove: (units) => `au-delà de ${units}`,
  unitsUpTo: (units) => `jusqu’à ${units}`,
  lowered: "ramené au maximum",
  raised: "porté au minimum",
  packages: (count, isOne) => `${count} ${isOne ? "lot" : "lots"}`,
  increasedBy: (amount) => `plus ${amount}`,
  atLeast: (amount) => `au moins ${amount}`,
  atMost: (amount) => `au plus ${amount}`,
  minimumZero: "minimum 0",
  otherUsage: "autre utilisation",
  allOfGroup: "tout",
  ratesByGroup: "prix par groupe",
  freeUnits: (list) => `prix par groupe ; unités gratuites : ${list}`,
  freeUnitsOf: (units, group) => `${units} pour ${group}`,
  moreGroups: (count) => `et ${count} ${count === 1 ? "autre" : "autres"}`,
  chargedBefore: (units) => `déjà facturé : ${units} ; la quantité est l’augmentation au-delà`,
  withPrice: (label, price) => `${label} : ${price}`,
  share: (amount, share, isNamed) => `${amount} ${isNamed ? `× ${share.days}/${share.of}` : formatFrenchDays(share)}`,
  reason: FRENCH_REASONS,
  titles: { STANDARD: "Facture", STANDARD_ADVANCED: "Facture d’avance", AD_HOC: "Facture ponctuelle" },
  draft: "Brouillon",
  from: "Émetteur",
  billTo: "Facturé à",
  number: "Numéro de facture",
  date: "Date",
  due: "Échéance",
  period: "Période",
  account: "Compte",
  plan: "Offre",
  group: "Groupe",
  reference: "Votre référence",
  description: "Description",
  quantity: "Quantité",
  unitPrice: "Prix unitaire",
  amount: "Montant",
  invoiceOf: (number) => `Facture ${number}`,
  flat: "forfait",
  free: "gratuit",
  perMillion: "par million",
  subTotal: "Sous-total",
  commitment: "Engagement minimum",
  creditKinds: { REFUND: "remboursement des jours non utilisés", NEGATIVE_INVOICE: "facture antérieure négative" },
  credit: (name) => `Payé par crédit : ${name}`,
  taxOn: (name, taxable) => `${name} sur ${taxable}`,
  reverseCharge: "Autoliquidation",
  total: "Total",
  paid: "Payé",
  amountDue: "Montant dû",
  unpriced: "Utilisation non facturée",
  draftStatus: "Ceci est un brouillon. Il peut encore changer, et rien n’est dû.",
  dueStatus: (amount, date) => `${amount} à payer au plus tard le ${date}`,
  paidStatus: "Payé. Rien n’est dû.",
  nothingDueStatus: "Rien n’est dû.",
  mergedStatus: (number) => `Fait partie de la facture ${number ?? "du groupe"} : c’est elle qu’il faut payer.`,
};
