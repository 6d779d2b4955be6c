/** Invoices as HTML: resolves ids, and reads seller and buyer from settings. */
import type { Address } from "../../../book/resources/account.ts";
import { formatInstant } from "../../../calendar/instant.ts";
import type { InvoiceSnapshot } from "../../../engine/billing/invoices.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { CompositeSnapshot } from "../../../engine/events/usage.ts";
import { undefinedIfNotFound } from "../../../errors.ts";
import { formatInvoiceNumber } from "../../../pages/invoice/invoice-lines.ts";
import {
  renderCompositePage,
  type InvoiceLetter,
  renderInvoicePage,
  PAGE_POLICY,
} from "../../../pages/invoice/invoice-page.ts";
import { joinPieces, formatAddressLines } from "../../http/answers.ts";
import type { Answer } from "../../http/endpoint.ts";

/** Renders an invoice. */
export async function renderInvoice(engine: Engine, snapshot: InvoiceSnapshot): Promise<Answer> {
  const { accountId, customerId, pricePlanId, invoiceDate } = snapshot.invoice;
  const [account, customer, pricePlan] = await Promise.all([
    engine.accounts.get(accountId),
    engine.customers.get(customerId),
    engine.pricePlans.get(pricePlanId),
  ]);
  const buyer = [...new Set([customer.name, ...listContactLines(account.address ?? customer.address)])];
  const letterhead = await readLetterhead(engine, buyer, [`ACCOUNT.${accountId}`, `CUSTOMER.${customerId}`]);
  const mergedInto =
    snapshot.mergedInto === undefined ? undefined : formatInvoiceNumber(snapshot.mergedInto, invoiceDate);
  const pageInvoice = {
    id: snapshot.id,
    invoice: snapshot.invoice,
    account: account.name,
    pricePlan: pricePlan.item.name,
  };
  return answerHtml(renderInvoicePage({ ...pageInvoice, mergedInto }, letterhead));
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
    renderCompositePage({ ...composite, group: group.item.name, invoices: listedInvoices }, letterhead),
  );
}

/** Settings in the namespace `invoice`: those of the account, else of the customer, else of the organization. */
async function readLetterhead(
  engine: Engine,
  buyer: readonly string[],
  entities: readonly string[],
): Promise<InvoiceLetter> {
  const { name } = await engine.organization.get();
  const readSetting = (id: string): Promise<string | undefined> =>
    findSetting(engine, `setting.invoice.${id}`, entities);
  const [seller, buyerOverride, logo, notes, reference] = await Promise.all([
    readSetting("seller"),
    readSetting("buyer"),
    readSetting("logo"),
    readSetting("notes"),
    readSetting("reference"),
  ]);
  return {
    seller: seller?.split("\n") ?? (name ? [name] : []),
    buyer: buyerOverride?.split("\n") ?? buyer,
    logo,
    notes,
    reference,
  };
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

async function answerHtml(page: Iterable<string>): Promise<Answer> {
  return {
    status: 200,
    body: await joinPieces(page),
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": PAGE_POLICY },
  };
}
