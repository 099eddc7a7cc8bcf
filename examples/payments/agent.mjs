// `agent.mjs [DESK]`: the payments agent. It asks for `transfer_funds`, waits for its user's approval, and pays
// an invoice. Then it narrows its token offline for a sub-agent, and tries to pay too much.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { AgentAuthError, createAgentAuthClient, generateKey } from "proviso/agent-auth/client";

const [provider = "http://127.0.0.1:8790"] = process.argv.slice(2);
const host = await createAgentAuthClient({
  provider,
  hostKey: await generateKey(),
  hostName: "Alice's laptop",
});

say("asks for transfer_funds");
const agent = await host.register({
  name: "Payments agent",
  capabilities: ["transfer_funds"],
  reason: "Pay the open invoices of ACME Office Supplies",
});
const { verificationUriComplete, verificationUri, userCode } = agent.state.approval ?? {};
say(`approve at ${verificationUriComplete ?? `${verificationUri}, code ${userCode}`}`);

const { status, grants } = await agent.waitForApproval({ interval: 1 });
const granted = grants.find((one) => one.capability === "transfer_funds");
if (status !== "active" || granted?.status !== "active") {
  say(`nothing was granted: ${granted?.reason ?? status}`);
  process.exit(1);
}
say(`granted transfer_funds, within ${JSON.stringify(granted.constraints)}`);

const PAYEE = "ACME Office Supplies";
await pay(250, "invoice-41");
await pay(1001, "invoice-43");

// The narrowing happens offline, without a call to the desk and without a key. The desk learns of the new hop
// only when the narrowed token is used there.
const narrowed = await agent.narrow("transfer_funds", {
  expires: "5m",
  constraints: { amount: { max: 100 }, payment_id: "invoice-42" },
  purpose: "pay invoice 42",
});
if (!narrowed.ok) throw new Error("the token does not allow what it is narrowed to");
say("narrows its token offline: 5 minutes, invoice-42 alone, at most 100; hands it to a sub-agent");
const sub = spawn(
  process.execPath,
  [fileURLToPath(new URL("sub-agent.mjs", import.meta.url)), await locationOf("transfer_funds")],
  { stdio: ["pipe", "inherit", "inherit"] },
);
// The token goes through a pipe, since other processes can read a command line.
sub.stdin.end(narrowed.token);
await once(sub, "close");

/**
 * @param {number} amount
 * @param {string} payment
 */
async function pay(amount, payment) {
  const transfer = { amount, currency: "USD", payee: PAYEE, payment_id: payment };
  try {
    await agent.execute("transfer_funds", transfer);
    say(`pays ${amount} USD (${payment})`);
  } catch (error) {
    if (!(error instanceof AgentAuthError)) throw error;
    say(`is refused ${amount} USD (${payment}): ${error.message}`);
  }
}

/** @param {string} capability */
async function locationOf(capability) {
  const { location } = await agent.describe(capability);
  return location ?? provider;
}

/** @param {string} text */
function say(text) {
  console.log(`payments agent: ${text}`);
}
