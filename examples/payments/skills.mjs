// The skills of the payments desk. The desk grants them. The bank executes them, at the location of the
// capability.

/** @type {import("proviso/agent").Skill} */
const transferFunds = {
  id: "transfer_funds",
  name: "Transfer funds",
  description: "Transfers money from one of the user's accounts to a payee",
  operation: "transfer",
  effect: "write",
  reach: "none",
  input: {
    type: "object",
    properties: {
      amount: { type: "number", minimum: 0.01, description: "How much, in the currency" },
      currency: { type: "string", enum: ["EUR", "GBP", "USD"] },
      payee: { type: "string", description: "Who gets it" },
      payment_id: { type: "string", description: "The bank pays each of these once" },
    },
    required: ["amount", "currency", "payee", "payment_id"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { paid: { type: "number" }, payment_id: { type: "string" } },
    required: ["paid", "payment_id"],
  },
  run: async () => {
    throw new Error("the bank runs this, at its own address");
  },
};

/** @type {import("proviso/a2a").AgentModule} */
const payments = async () => ({ skills: [transferFunds] });
export default payments;
