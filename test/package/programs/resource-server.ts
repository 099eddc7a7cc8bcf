import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Request } from "express";
import { attenuate } from "proviso";
import { capabilityOf, createCapabilityMiddleware } from "proviso/express";
import { createCapabilityMiddleware as forFetch } from "proviso/fetch";
import {
  createIssuer,
  createKeyring,
  createRevocationList,
  type VerifiedCapability,
} from "proviso/issuer";
import { createCapabilityMiddleware as forNode } from "proviso/node";

const issuer = createIssuer({
  name: "documents",
  keys: createKeyring(),
  revocations: createRevocationList(),
});
const { token } = issuer.mint({
  grant: "documents:read",
  operations: ["retrieve", "list"],
  resourceHandles: ["rh_1"],
  principal: "alice",
});
const narrowed = attenuate(token, { operations: ["list"] });
if (!narrowed.ok) throw new Error("it is not narrower");
const route = { grant: "documents:read", operation: "retrieve" };

const app = express();
app.get(
  "/:id",
  createCapabilityMiddleware(issuer)({
    ...route,
    resourceHandles: (req: Request<{ id: string }>) => [req.params.id],
  }),
  (req, res) => {
    const { principal }: VerifiedCapability = capabilityOf(req);
    res.send(principal);
  },
);
const handle = forFetch(issuer)(
  { ...route, resourceHandles: (request) => [new URL(request.url).pathname.slice(1)] },
  (_request, { principal }) => new Response(principal),
);
const listener = forNode(issuer, { onFailure: (error) => console.error(error) })(
  { ...route, resourceHandles: (req) => [(req.url ?? "").slice(1)] },
  (_req, res, { principal }) => void res.end(principal),
);

async function served(server: Server): Promise<readonly string[]> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/rh_1`;
  const answers = await answersOf((headers) => fetch(url, { headers }));
  server.close();
  return answers;
}

async function answersOf(
  ask: (headers: Record<string, string>) => Promise<Response>,
): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const presented of [token, narrowed.ok ? narrowed.token : "", undefined]) {
    const answer = await ask(presented === undefined ? {} : { "Proviso-Capability": presented });
    answers.push(`${answer.status} ${answer.ok ? await answer.text() : ""}`.trim());
  }
  return answers;
}

const all = [
  await served(createServer(app)),
  await served(createServer(listener)),
  await answersOf(async (headers) => handle(new Request("https://a.example/rh_1", { headers }))),
];
const ok = all.every((answers) => answers.join() === "200 alice,403,401");
console.log(JSON.stringify({ ok, all }));
