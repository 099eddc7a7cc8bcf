// `bank.mjs KEYS FEED PORT`: the bank, a separate resource server. It has the address of the revocation feed,
// and a key that was derived for the bank alone. With this key it can check and narrow capabilities, but cannot
// make one for another service. It has no root key, and knows nothing about agents, approvals or grants.
import express from "express";
import { capabilityOf, createCapabilityMiddleware } from "proviso/express";
import { createIssuer } from "proviso/issuer";
import { followRevocations } from "proviso/revocations";
import { followKeyringFile } from "proviso/stores";

const [file = "", feed = "", port = "0"] = process.argv.slice(2);
const keys = followKeyringFile(file);
const audience = keys().service;
const revocations = followRevocations({ url: feed, keys, interval: 5 });
const issuer = createIssuer({ name: "payments-desk", keys, revocations, audience });
const requires = createCapabilityMiddleware(issuer, { realm: "bank" });

/** Executed payments by id. Each payment is executed only once. @type {Map<string, object>} */
const paid = new Map();

const app = express().use(express.json({ limit: "8kb" }));
app.post(
  "/transfers",
  requires({
    grant: "payments:send",
    operation: "transfer",
    // The handler pays exactly the arguments that the capability limits.
    arguments: (/** @type {express.Request} */ req) => transferIn(req.body) ?? {},
  }),
  (req, res) => {
    const transfer = transferIn(req.body);
    if (transfer === undefined) {
      res.status(400).json({ error: "invalid_request", message: "this is not a transfer" });
      return;
    }
    const { amount, currency, payee, payment_id: id } = transfer;
    const { principal = "" } = capabilityOf(req);
    const own = `${principal} ${id}`;
    if (paid.has(own)) {
      res.status(409).json({ error: "already_paid", message: `${id} has been paid` });
      return;
    }
    paid.set(own, transfer);
    console.error(`bank: paid ${amount} ${currency} of ${principal} to ${payee} (${id})`);
    res.json({ data: { paid: amount, payment_id: id } });
  },
);

/**
 * Returns the requested transfer from the body. Agent-Auth sends the transfer as the arguments of the
 * capability.
 *
 * @param {{ readonly arguments?: { readonly [name: string]: unknown } } | undefined} body
 */
function transferIn(body) {
  const { amount, currency, payee, payment_id, ...others } = body?.arguments ?? {};
  if (typeof amount !== "number" || !(amount > 0) || Object.keys(others).length > 0)
    return undefined;
  if (typeof currency !== "string" || typeof payee !== "string") return undefined;
  if (typeof payment_id !== "string" || payment_id === "") return undefined;
  return { amount, currency, payee, payment_id };
}

const server = app.listen(Number(port), "127.0.0.1", () => {
  console.log(JSON.stringify({ port: Object(server.address()).port }));
});
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
  process.once(signal, () => {
    revocations.close();
    server.close();
    server.closeAllConnections();
  });
}
