import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterAll, expect, test } from "vitest";
import { Sessions } from "../../src/console/sessions.js";
import { createIssuer, createKeyring } from "../../src/issuer/index.js";
import { RevocationList } from "../../src/revocation/list.js";

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

test("an ended console session is not accepted again, even after 10,100 other sessions have ended", async () => {
  let now = Date.now();
  const clock = (): number => now;
  const seal = createIssuer({
    name: "console",
    keys: createKeyring(),
    revocations: new RevocationList(),
    clock,
  });
  const sessions = new Sessions({ seal, secure: false, lifetime: 3600, clock });
  const app = express();
  app.get("/start", (_req, res) => {
    sessions.start(res, "alice");
    res.end();
  });
  app.get("/end", (req, res) => {
    const session = sessions.of(req);
    if (session !== undefined) sessions.end(res, session);
    // Other users end 10,100 sessions. None of them may displace the record of this one.
    for (let at = 0; at < 10_100; at++) {
      sessions.end(res, { id: `other ${at}`, principal: "x", csrf: "", ends: now, codes: [] });
      res.removeHeader("Set-Cookie");
    }
    res.end();
  });
  app.get("/who", (req, res) => {
    res.send(sessions.of(req)?.principal ?? "none");
  });
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (path: string, cookie = "") =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { cookie } });
  const [cookie = ""] = (await ask("/start")).headers.get("set-cookie")?.split(";") ?? [];
  const who = async () => (await ask("/who", cookie)).text();
  expect(await who()).toBe("alice");
  now += 1000;
  await ask("/end", cookie);
  expect(await who()).toBe("none");
});
