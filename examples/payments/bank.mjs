// `bank.mjs KEYS FEED PORT`: the bank, a resource server of its own. It has a key that was derived for it
// alone, so that it can check capabilities and narrow them, and cannot make one for any other service; and the
// address of the revocation feed. It has no root key, and knows nothing of agents, approvals or grants.
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

/** Payments that were made, by their ids: each is made once. @type {Map<string, object>} */
const paid = new Map();

const app = express().use(express.json({ limit: "8kb" }));
app.post(
  "/transfers",
  requires({
    grant: "payments:send",
    operation: "transfer",
    // What the capability limits is what the transfer below is made of.
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
 * The transfer that a request asks for: Agent-Auth sends it as the arguments of its capability.
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
