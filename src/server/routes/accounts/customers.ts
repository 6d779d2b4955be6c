/** Customers over HTTP. */
import * as z from "zod";

import { customer } from "../../../book/resources/account.ts";
import { REQUESTS } from "../../../book/resources/requests.ts";
import type { CreatedCustomer, CustomerSnapshot } from "../../../engine/accounts/customers.ts";
import type { Engine } from "../../../engine/engine.ts";
import { formatAddressLines, addressShape, toAddressJson, toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { formatTime, timestamp } from "../../http/fields.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";
import { accountShape, readAccountJson } from "./accounts.ts";

const customerShape = z
  .strictObject({
    id: z.string().max(50),
    togaiCustomerId: z.string().max(50).meta({ description: "Equal to `id`." }),
    name: customer.shape.name,
    primaryEmail: z.string().max(255).optional(),
    address: addressShape.meta({ description: "An empty object if there is none." }),
    billingAddress: z.string().meta({ description: "The address in one line; empty if there is none." }),
    status: accountShape.shape.status,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "Customer" });
const createdCustomerShape = customerShape.extend({ account: accountShape }).meta({ id: "CreatedCustomer" });

/** Over HTTP a customer requires an email address, although a book may omit it. */
const primaryEmail = REQUESTS.customerCreate.shape.primaryEmail.unwrap().unwrap();
const CUSTOMERS = new ResourceEndpoints<CustomerSnapshot>({
  tag: "Customers",
  path: "/customers",
  methods: (engine) => engine.customers,
  idName: "customer_id",
  shape: customerShape,
  toJson: toCustomerJson,
});

export const CUSTOMER_ENDPOINTS: readonly Endpoint[] = [
  CUSTOMERS.with({ shape: createdCustomerShape, toJson: toCreatedCustomerJson }).create({
    id: "createCustomer",
    summary: "Create a customer and its first account",
    description:
      "Without `account`, an account with the customer's id and name is created. Settings are created with both.",
    body: REQUESTS.customerCreate.extend({ primaryEmail }),
    status: 201,
    run: (engine, body) =>
      engine.customers.create({ ...body, account: body.account ?? { id: body.id, name: body.name } }),
  }),
  CUSTOMERS.list({ id: "listCustomers", summary: "List customers, newest first", answerId: "CustomerList" }),
  CUSTOMERS.get({ id: "getCustomer", summary: "Get a customer" }),
  CUSTOMERS.update({
    id: "updateCustomer",
    summary: "Change a customer",
    body: REQUESTS.customerPatch.extend({ primaryEmail: primaryEmail.optional() }),
  }),
  CUSTOMERS.remove({
    id: "archiveCustomer",
    summary: "Archive a customer and its accounts",
    description: "Rejected while one of its accounts has a current or future plan, or an open draft invoice.",
  }),
];

async function toCreatedCustomerJson({ account, ...customer }: CreatedCustomer, engine: Engine): Promise<unknown> {
  return { ...toCustomerJson(customer), account: account && (await readAccountJson(engine, account)) };
}

function toCustomerJson(customerSnapshot: CustomerSnapshot): z.input<typeof customerShape> {
  const { id, address, createdAt, updatedAt } = customerSnapshot;
  return toAnswer(customerShape, {
    ...customerSnapshot,
    togaiCustomerId: id,
    // Clients of the reference API require an address.
    address: toAddressJson(address) ?? {},
    billingAddress: formatAddressLines(address).join(", "),
    createdAt: formatTime(createdAt),
    updatedAt: formatTime(updatedAt),
  });
}
