// `sub-agent.mjs BANK < TOKEN`: a sub-agent that has only a narrowed token and the bank's address. It has no
// key, no account and no registration, and no other party knows it.
import { text } from "node:stream/consumers";

const [bank = ""] = process.argv.slice(2);
const token = (await text(process.stdin)).trim();

await pay(101, "invoice-42");
await pay(60, "invoice-43");
await pay(100, "invoice-42", "Mallory");
await pay(100, "invoice-42");
await pay(100, "invoice-42");

/**
 * @param {number} amount
 * @param {string} payment
 */
async function pay(amount, payment, payee = "ACME Office Supplies") {
  const transfer = { amount, currency: "USD", payee, payment_id: payment };
  const answer = await fetch(bank, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Proviso-Capability": token },
    body: JSON.stringify({ capability: "transfer_funds", arguments: transfer }),
  });
  const what = `${amount} USD to ${payee} (${payment})`;
  const { message } = Object(await answer.json());
  console.log(answer.ok ? `sub-agent: pays ${what}` : `sub-agent: is refused ${what}: ${message}`);
}
