/** Monetary credits and balances over HTTP (S12). */
import * as z from "zod";

import { REQUESTS } from "../../../book/resources/requests.ts";
import { NO_END } from "../../../invoicing/timeline.ts";
import type { CreditSnapshot } from "../../../ledger/commands/credits.ts";
import { shortId } from "../../../numbers/ids.ts";
import { skippedShape, toAnswer } from "../../http/answers.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { day, number, pathId, formatTime, timestamp } from "../../http/fields.ts";
import { LONG_PAGE_SIZES } from "../../http/pagination.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

const creditShape = z
  .strictObject({
    id: z.string(),
    customerId: z.string(),
    accountId: z.string(),
    purpose: z.string(),
    effectiveFrom: day,
    effectiveUntil: day.meta({ description: "The end, exclusive; `9999-01-01` if there is none." }),
    status: z.enum(["ACTIVE", "CONSUMED", "EXPIRED", "VOIDED"]),
    creditAmount: number,
    creditUnit: z.string().meta({ description: "The account's invoice currency." }),
    holdAmount: number.meta({ description: "The amount that draft invoices reserve, computed on request." }),
    consumedAmount: number.meta({ description: "The amount used by final invoices." }),
    priority: z.int().meta({ description: "Credits with a lower priority pay first." }),
    applicableEntityIds: z
      .array(z.string())
      .optional()
      .meta({ description: "The items that the credit can pay for; absent: all." }),
    createdAt: timestamp,
  })
  .meta({ id: "Credit" });

const creditWithTransactions = creditShape
  .extend({
    transactions: z
      .array(
        z.strictObject({
          id: z.string(),
          creditId: z.string(),
          transactionType: z.enum(["DEBITED"]),
          invoiceId: z.string(),
          amount: number,
          createdAt: timestamp,
        }),
      )
      .meta({ description: "What final invoices used, in order." }),
  })
  .meta({ id: "CreditWithTransactions" });

const CREDITS = new ResourceEndpoints<CreditSnapshot>({
  tag: "Credits",
  path: "/credits",
  methods: (engine) => engine.credits,
  idName: "credit_id",
  idSchema: pathId(512),
  shape: creditShape,
  toJson: toCreditJson,
});

export const CREDIT_ENDPOINTS: readonly Endpoint[] = [
  CREDITS.with({
    shape: z.strictObject({ credits: z.array(creditShape) }).meta({ id: "CreatedCredits" }),
    toJson: (credits: readonly CreditSnapshot[]) => ({ credits: credits.map(toCreditJson) }),
  }).create({
    id: "createCredits",
    summary: "Create credits, all or none",
    body: z.strictObject({ creditRequests: REQUESTS.creditCreate }),
    wireNames: { "": "creditRequests" },
    run: ({ engine, body: { creditRequests } }) => engine.credits.create(creditRequests),
  }),
  CREDITS.list({
    id: "listCredits",
    summary: "List credits, newest first",
    filters: { account_id: pathId().optional(), status: creditShape.shape.status.optional() },
    sizes: LONG_PAGE_SIZES,
    open: { skipped: skippedShape },
    answerId: "CreditList",
  }),
  CREDITS.with({ shape: creditWithTransactions, toJson: toCreditWithTransactions }).get({
    id: "getCredit",
    summary: "Get a credit with its transactions",
  }),
  CREDITS.with({
    shape: z.array(creditShape).meta({ id: "VoidedCredits" }),
    toJson: (credit: CreditSnapshot) => [toCreditJson(credit)],
  }).action("void", {
    id: "voidCredit",
    summary: "Void a credit",
    description: "Releases what drafts reserve. Amounts that final invoices used stay consumed.",
  }),
];

function toCreditJson({ credit, holdAmount, status }: CreditSnapshot): z.input<typeof creditShape> {
  const { effectiveUntil = NO_END, currency, applicableEntityIds = [] } = credit;
  return toAnswer(creditShape, {
    ...credit,
    effectiveUntil,
    status,
    creditUnit: currency,
    holdAmount,
    applicableEntityIds: applicableEntityIds.length === 0 ? undefined : applicableEntityIds,
  });
}

function toCreditWithTransactions(snapshot: CreditSnapshot): z.input<typeof creditWithTransactions> {
  const { id: creditId } = snapshot.credit;
  const transactions = snapshot.credit.transactions.map(({ invoiceId, amount, at }) => ({
    id: shortId("ct", [creditId, invoiceId]),
    creditId,
    transactionType: "DEBITED" as const,
    invoiceId,
    amount,
    createdAt: formatTime(at),
  }));
  return { ...toCreditJson(snapshot), transactions };
}

const creditBalanceShape = z
  .strictObject({
    accountId: z.string(),
    activeCredits: number.meta({ description: "The credited amount, minus what final invoices used." }),
    availableBalance: number.meta({ description: "`activeCredits` minus the amounts reserved by draft invoices." }),
    runningBalance: number.meta({ description: "The part of `availableBalance` that pays any line." }),
    inapplicableCredits: number.meta({ description: "The rest, which pays only some lines." }),
    unit: z.string().meta({ description: "The account's invoice currency." }),
    lastUpdatedAt: timestamp.meta({
      description: "When a credit was last created or used; without credits, when the account was created.",
    }),
  })
  .meta({ id: "CreditBalance" });

export const CREDIT_BALANCE_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "GET",
    path: "/accounts/{account_id}/credit_balance",
    id: "getCreditBalance",
    tag: "Credits",
    summary: "Get the current credit balance of an account",
    description: "The sum of the credits in force: started, not expired and not voided.",
    params: z.strictObject({ account_id: pathId() }),
    answers: { 200: creditBalanceShape },
    handle: async ({ engine, params: { account_id: id } }) =>
      answerOk(toAnswer(creditBalanceShape, await engine.creditBalance(id))),
  }),
];
