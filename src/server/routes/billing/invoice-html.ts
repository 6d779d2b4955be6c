/** Invoices as HTML: resolves ids, and reads seller and buyer from settings. */
import type { Address } from "../../../book/resources/account.ts";
import { formatInstant } from "../../../calendar/instant.ts";
import type { InvoiceSnapshot } from "../../../engine/billing/invoices.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { CompositeSnapshot } from "../../../engine/events/usage.ts";
import { undefinedIfNotFound } from "../../../errors.ts";
import { type InvoiceDetails, type InvoiceParty, parseLogo } from "../../../pages/invoice/invoice-details.ts";
import { formatInvoiceNumber } from "../../../pages/invoice/invoice-lines.ts";
import { renderSheets } from "../../../pages/invoice/invoice-page.ts";
import { createCompositeSheet, createInvoiceSheet, type InvoiceSheet } from "../../../pages/invoice/invoice-sheet.ts";
import { joinPieces, formatAddressLines } from "../../http/answers.ts";
import type { Answer } from "../../http/endpoint.ts";

/** Renders an invoice. */
export async function renderInvoice(engine: Engine, snapshot: InvoiceSnapshot): Promise<Answer> {
  return answerHtml(await readInvoiceSheet(engine, snapshot));
}

/** The sheet of an invoice, with names and settings of its account. @param details replace those of the settings */
export async function readInvoiceSheet(
  engine: Engine,
  { id, invoice, mergedInto }: InvoiceSnapshot,
  details: InvoiceDetails = {},
): Promise<InvoiceSheet> {
  const { accountId, customerId, pricePlanId, invoiceDate } = invoice;
  const [account, customer, pricePlan] = await Promise.all([
    engine.accounts.get(accountId),
    engine.customers.get(customerId),
    engine.pricePlans.get(pricePlanId),
  ]);
  const buyer = [...new Set([customer.name, ...listContactLines(account.address ?? customer.address)])];
  const letterhead = await readLetterhead(engine, buyer, [`ACCOUNT.${accountId}`, `CUSTOMER.${customerId}`]);
  const names = { account: account.name, plan: pricePlan.item.name };
  const groupNumber = mergedInto === undefined ? undefined : formatInvoiceNumber(mergedInto, invoiceDate);
  return createInvoiceSheet(invoice, { ...letterhead, ...names, id, ...details }, groupNumber);
}

/** Renders the invoice of a group. */
export async function renderComposite(engine: Engine, composite: CompositeSnapshot): Promise<Answer> {
  const { invoiceGroupId, invoices, invoiceDate } = composite;
  const accountIds = [...new Set(invoices.map(({ accountId }) => accountId))];
  const [group, ...accounts] = await Promise.all([
    engine.invoiceGroups.get(invoiceGroupId),
    ...accountIds.map((id) => engine.accounts.get(id)),
  ]);
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const listedInvoices = invoices.map(({ invoiceId, accountId, total }) => ({
    number: formatInvoiceNumber(invoiceId, formatInstant(invoiceDate)),
    account: names.get(accountId) ?? accountId,
    total,
  }));
  const letterhead = await readLetterhead(
    engine,
    [group.item.name, ...listContactLines(group.item.billingAddress ?? group.item.address)],
    [],
  );
  return answerHtml(
    createCompositeSheet({ ...composite, group: group.item.name, invoices: listedInvoices }, letterhead),
  );
}

/** Settings in the namespace `invoice`: those of the account, else of the customer, else of the organization. */
async function readLetterhead(
  engine: Engine,
  buyer: readonly string[],
  entities: readonly string[],
): Promise<InvoiceDetails> {
  const { name } = await engine.organization.get();
  const readSetting = (id: string): Promise<string | undefined> =>
    findSetting(engine, `setting.invoice.${id}`, entities);
  const [seller, buyerOverride, logo, notes, reference, locale] = await Promise.all([
    readSetting("seller"),
    readSetting("buyer"),
    readSetting("logo"),
    readSetting("notes"),
    readSetting("reference"),
    readSetting("locale"),
  ]);
  return {
    seller: toParty(seller?.split("\n") ?? (name ? [name] : [])),
    buyer: toParty(buyerOverride?.split("\n") ?? buyer),
    logo: parseLogo(logo),
    notes,
    reference,
    locale,
  };
}

function toParty([name, ...address]: readonly string[]): InvoiceParty | undefined {
  return name === undefined ? undefined : { name, address };
}

async function findSetting(engine: Engine, key: string, entities: readonly string[]): Promise<string | undefined> {
  for (const id of [...entities.map((entity) => `${key}.${entity}`), key]) {
    const setting = await undefinedIfNotFound(engine.settings.get(id));
    if (setting !== undefined) return setting.item.value;
  }
  return undefined;
}

/** An address, one line each. */
function listContactLines(address: Address | null | undefined): readonly string[] {
  return [...formatAddressLines(address), address?.phoneNumber ?? ""].filter((line) => line !== "");
}

async function answerHtml(sheet: InvoiceSheet): Promise<Answer> {
  const { policy, pieces } = renderSheets([sheet]);
  return {
    status: 200,
    body: await joinPieces(pieces),
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": policy },
  };
}
