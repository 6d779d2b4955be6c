/** What the name of a column says about its values. */

/** What AWS writes before the names of most columns of its bills. */
const LINE_ITEM = /^line_?item[/_]/i;

/** Splits `customerId` and `customer_id` into "customer" and "id", in lower case and without accents. */
export function splitWords(name: string): readonly string[] {
  return name
    .replace(LINE_ITEM, "")
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll("ß", "ss")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

type NameTest = (name: string) => boolean;

/** Whether one of a name's words is in a list, which is separated by spaces, or matches a pattern of compounds. */
function createNameTest(list: string, compounds = /^\b$/): NameTest {
  const words = new Set(list.split(" "));
  return (name) => splitWords(name).some((word) => words.has(word) || compounds.test(word));
}

/** Units in which usage is counted. */
const hasUnit = createNameTest(
  "count counts quantity qty num units minutes min mins hours hrs seconds secs days bytes kb mb gb tb kib mib " +
    "gib tib kwh mwh wh km kg tokens requests calls queries messages sms emails events seats users licenses licences " +
    "sessions jobs runs builds images pages records rows characters operations ops hits views executions invocations " +
    "instances hosts containers storage bandwidth traffic volume sitze lizenzen quantite quantites nombre heures " +
    "appels cantidad horas",
  /(?:menge|anzahl|stunden|minuten|sekunden|tage|stuck|volumen|verbrauch)$/,
);
const hasTimeUnit = createNameTest("ms millis s sec secs seconds min mins minutes duration time");
const isPriceName = createNameTest(
  "cost costs price prices fee fees tax taxes vat tva discount discounts refund refunds revenue spend " +
    "subtotal profit margin usd eur gbp chf cents currency devise prix cout couts montant tarif precio coste importe " +
    "unitprice netto brutto mwst steuer rabatt",
  /(?:preis|preise|kosten|betrag|gebuhr|gebuhren|umsatz|erlos|entgelt|wahrung)$/,
);
const isAmountName = createNameTest(
  "rate rates amount amounts summe charge charges charged total gross net credit debit payment paid",
);
const hasUsage = createNameTest("usage used consumed consumption");
const hasCode = createNameTest(
  "status code year month week day hour zip plz postal postcode version port quarter level priority rank asn annee mois",
  /(?:jahr|monat|postleitzahl)$/,
);
const hasSerialNumber = createNameTest(
  "pid process thread line row index phone tel fax seed no nr number id ids",
  /(?:nummer|nr)$/,
);
const isMeasureName = createNameTest(
  "latency ttft delay rtt temperature ratio percent percentage pct score avg average mean median p50 p90 p95 p99 max " +
    "factor multiplier limit quota remaining per lat latitude lon lng longitude prozent balance",
);
const hasTime = createNameTest("time");
const hasStep = createNameTest("response request processing upstream connect generation first queue elapsed taken");
const hasToken = createNameTest("token tokens");

/** Whether a name is that of money or a price, which usage is not. */
export const isMoneyName: NameTest = (name) =>
  isPriceName(name) || (isAmountName(name) && !hasUnit(name) && !hasUsage(name));

/** Whether a name is that of an amount to pay, and not of a price, a rate, a tax or a part of an amount. */
export const isAmountToPay: NameTest = (name) => isMoneyName(name) && !isPartOfAmount(name);
const isPartOfAmount = createNameTest(
  "price prices fee fees tax taxes vat tva mwst discount discounts refund rate rates net netto tarif prix precio list",
  /(?:preis|gebuhr)$/,
);

/** Whether numbers with this name identify or classify something. */
export const isCodeName: NameTest = (name) => (hasCode(name) || hasSerialNumber(name)) && !hasUnit(name);

/** Whether numbers with this name identify something. */
export const isSerialNumber: NameTest = (name) => hasSerialNumber(name) && !hasUnit(name);

/** Whether numbers with this name are measured but not used up, such as latencies. */
export const isMeasure: NameTest = (name) => isMeasureName(name) || (hasTime(name) && hasStep(name));

/** Whether numbers with this name are tokens of a language model. */
export const isTokenName: NameTest = (name) => hasToken(name) && !isMoneyName(name) && !isMeasure(name);

/** Whether a name has a unit of usage other than time. */
export const isCountName: NameTest = (name) => hasUnit(name) && !hasTimeUnit(name);

/** Whether a name is that of the quantity of a cloud bill. */
export const isUsageAmount: NameTest = (name) => hasUsage(name) && /amount|quantity/i.test(name);

/** Whether texts with this name differ from event to event. */
export const isFreeTextName = createNameTest(
  "url uri path referer referrer agent useragent message comment note notes notiz bemerkung kommentar commentaire " +
    "prompt completion body query ip addr address tags metadata arn title",
);

export function isIdName(name: string): boolean {
  return ["id", "uuid", "guid"].includes(splitWords(name).at(-1) ?? "");
}

/** Whether a number with this name is likely to identify a row. */
export const isNumberOfRow = createNameTest(
  "no nr seq sequence lfd ref reference invoice order ticket key code",
  /(?:nummer|nr|beleg|rechnung)$/,
);

/** Whether ids with this name belong to something other than the event. */
export const isForeignId = createNameTest(
  "user customer account session resource product price sku plan model service meter project subscription group team " +
    "key organization workspace tenant invoice parent",
);

const isLate = createNameTest(
  "end ended ending until ende bis fin finish finished complete completed completion stop stopped update updated " +
    "modified due expires expiry paid payout available received sent export exported ingested processed deleted closed " +
    "last original",
);
const isBilling = createNameTest("bill billing invoice period statement rechnung rechnungsdatum");
const isStart = createNameTest("start started begin began beginn from von debut usage used");
const isEvent = createNameTest("created creation occurred timestamp event");

/** How likely the times with this name are those at which usage began. */
export function rankTimeName(name: string): number {
  return (isStart(name) ? 2 : 0) + (isEvent(name) ? 1 : 0) - (isLate(name) ? 4 : 0) - (isBilling(name) ? 3 : 0);
}

/** Column names that suggest a time. Whole numbers in such a column may be seconds or milliseconds. */
export const TIME_NAME = /time|date|datum|zeit|fecha|when|start|stamp|epoch|created|occurred|^ts$|(?:^|[_ .])at$/i;

/** Words of names of accounts, best first. */
const ACCOUNT_WORDS = [
  "customer customers kunde kunden kundennummer kundennr kundenname debitor",
  "account konto compte cuenta",
  "tenant mandant",
  "organization organisation org",
  "client cliente company firma societe entreprise empresa",
  "workspace team group",
  "user username nutzer benutzer utilisateur",
  "subscription",
  "project",
].map((words) => words.split(" "));
const isNoAccount = createNameTest(
  "agent ip port addr address count number type tier plan country version balance age region currency role status " +
    "language tags timezone arn order invoice request event session message ticket call item line card manager",
);
const isPayer = createNameTest("payer billing bill parent owner");

/** The rank of a column's name among those of accounts: lower is better. Undefined for other names. */
export function rankAccountName(name: string): number | undefined {
  const words = splitWords(name);
  const rank = ACCOUNT_WORDS.findIndex((accountWords) => words.some((word) => accountWords.includes(word)));
  const isOtherGroup = words.includes("group") && !/group_?id$/i.test(name);
  if (rank < 0 || isOtherGroup || isNoAccount(name) || isMoneyName(name)) return undefined;
  return rank + (isPayer(name) ? ACCOUNT_WORDS.length : 0);
}
