import { once } from "node:events";
import { Agent, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import express, { type RequestHandler } from "express";
import { expect, test } from "vitest";
import { shareShapes } from "../../src/http/shared-shape.js";

setFlagsFromString("--allow-natives-syntax");
const haveSameShape: (one: object, other: object) => boolean = new Function(
  "one",
  "other",
  "return %HaveSameMap(one, other)",
) as () => boolean;
setFlagsFromString("--no-allow-natives-syntax");

/** What an Express app is given for six requests, the members of which it has added to. */
async function served(...before: RequestHandler[]) {
  const all: { readonly req: IncomingMessage; readonly res: ServerResponse }[] = [];
  const app = express().use(...before, (req, res) => {
    req.body = {};
    all.push({ req, res });
    res.end();
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  for (let count = 0; count < 6; count++) {
    const [answer] = (await once(get({ port, host: "127.0.0.1", agent }), "response")) as [
      IncomingMessage,
    ];
    await once(answer.resume(), "end");
  }
  agent.destroy();
  server.close();
  return all;
}

/** How many shapes some objects have. */
function shapesOf(all: readonly object[]): number {
  return all.filter((one, at) => !all.slice(0, at).some((other) => haveSameShape(one, other)))
    .length;
}

test("requests and answers behind it share their shapes, and have no other members", async () => {
  const all = await served((_req, _res, next) => next(), shareShapes);
  expect(all).toHaveLength(6);
  // V8 gives all a shape anew when it learns that a member holds another kind of value; without this each has its own.
  expect(shapesOf(all.map(({ req }) => req))).toBeLessThanOrEqual(2);
  expect(shapesOf(all.map(({ res }) => res))).toBeLessThanOrEqual(2);
  const [first] = all;
  const [plain] = await served((_req, _res, next) => next());
  for (const of of ["req", "res"] as const) {
    expect(new Set(Reflect.ownKeys(first?.[of] ?? {}))).toEqual(
      new Set(Reflect.ownKeys(plain?.[of] ?? {})),
    );
  }
});
