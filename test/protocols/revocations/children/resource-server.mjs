// A resource server as an operator would write it, with its own keys in a file and the URL of the feed. Only
// the tests use the routes below /test.
import express from "express";
import { capabilityOf, createCapabilityMiddleware } from "proviso/express";
import { createIssuer } from "proviso/issuer";
import { followRevocations } from "proviso/revocations";
import { followKeyringFile } from "proviso/stores";

const [file, url, issuerName] = process.argv.slice(2);
let ahead = 0;
const clock = () => Date.now() + ahead;
const keys = followKeyringFile(file, { refreshEvery: 0 });
const revocations = followRevocations({ url, keys, clock });
const audience = keys().service;
const issuer = createIssuer({ name: issuerName, keys, revocations, audience, clock });
const requires = createCapabilityMiddleware(issuer);

const app = express();
app.get(
  "/notes/:id",
  requires({
    grant: "notes:read",
    operation: "read",
    resourceHandles: (req) => [req.params.id],
  }),
  (req, res) => res.json({ id: req.params.id, for: capabilityOf(req).principal ?? "" }),
);
app.post("/test/refresh", async (_req, res) => {
  const problem = await revocations.refresh().then(
    () => undefined,
    (error) => error.message,
  );
  res.json({ problem, version: revocations.version, size: revocations.size });
});
app.post("/test/wait/:seconds", (req, res) => {
  ahead += Number(req.params.seconds) * 1000;
  res.json({});
});
const server = app.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
