import type { JsonObject } from "../../../../src/bytes/json.js";

/**
 * The capabilities of a small bank, which both servers of the differential test offer, and their results. The first two
 * capabilities are the defaults; `print_report` has its own location.
 */
export interface BankCapability {
  readonly name: string;
  readonly description: string;
  readonly location?: string;
  readonly input?: JsonObject;
  readonly output?: JsonObject;
}

export const LOCATION = "https://reports.example/agent/execute";

export const DEFAULTS: readonly string[] = ["check_balance", "list_payees"];

export const CAPABILITIES: readonly BankCapability[] = [
  {
    name: "check_balance",
    description: "Check the balance of an account",
    input: {
      type: "object",
      required: ["account_id"],
      properties: { account_id: { type: "string", description: "The account" } },
    },
    output: {
      type: "object",
      properties: { account_id: { type: "string" }, balance: { type: "number" } },
    },
  },
  { name: "list_payees", description: "List the payees" },
  {
    name: "transfer_funds",
    description: "Transfer money to a payee",
    input: {
      type: "object",
      required: ["amount", "to"],
      properties: {
        amount: { type: "number" },
        to: { type: "string" },
        currency: { type: "string" },
      },
    },
    output: { type: "object", properties: { transfer_id: { type: "string" } } },
  },
  { name: "delete_payee", description: "Delete a payee" },
  { name: "print_report", description: "Print a report", location: LOCATION },
  { name: "always_fails", description: "Fail whenever it runs" },
  { name: "old_statement", description: "Fetch an old statement" },
];

/** The capability that the flows withdraw from the server and offer again. */
export const REMOVABLE = "old_statement";

/** Returns the result of a capability; throws for `always_fails`. */
export function runCapability(name: string, given: Readonly<Record<string, unknown>>): JsonObject {
  switch (name) {
    case "check_balance":
      return { account_id: String(given["account_id"]), balance: 512 };
    case "transfer_funds":
      return { transfer_id: "transfer-1" };
    case "always_fails":
      throw new Error("the vault is jammed");
    default:
      return { done: true };
  }
}
