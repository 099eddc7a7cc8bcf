import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import { sized } from "../../../support/size.js";
import { openTestGate, RawServer, tool } from "./support.js";

const RUNS = sized(800, 60, 2000);

/** Ids of the host: numbers and strings, some of which the gate itself also uses. */
const ids = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom("", "1", "a", "\u2028", "é"));

/** One step: a call or a cancellation of the host, or an answer or progress of the server to one of the calls. */
const steps = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("call" as const), id: ids, allowed: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("answer" as const, "progress" as const, "again" as const),
      which: fc.nat(20),
      space: fc.constantFrom("", " ", "\t"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), id: ids }) },
);

test("every answer and every progress notification reaches its own request once, as the server wrote it", async () => {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("read"), tool("write")] };
  const { host } = await openTestGate([server], { operations: ["read"] });
  await host.ask({ id: "first", method: "tools/list" });
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 30 }), async (happenings) => {
      host.received.length = 0;
      server.received.length = 0;
      /** For each call at the server: the host's id, the gate's id, and whether the call is still open. */
      const calls: { id: string | number; gateId: JsonObject[string]; isOpen: boolean }[] = [];
      const expected: string[] = [];
      const isOpen = (id: string | number) => calls.some((call) => call.isOpen && call.id === id);
      for (const step of happenings) {
        if (step.kind === "call") {
          const { id, allowed } = step;
          const name = allowed ? "read" : "write";
          const _meta = { progressToken: `of ${JSON.stringify(id)}` };
          const before = host.received.length;
          await host.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, _meta } });
          if (allowed && !isOpen(id)) {
            await expect.poll(() => server.received.length, { interval: 1 }).toBe(calls.length + 1);
            const { id: gateId = null } = JSON.parse(server.received.at(-1) ?? "");
            calls.push({ id, gateId, isOpen: true });
          } else {
            await expect.poll(() => host.received.length, { interval: 1 }).toBe(before + 1);
            const answer = JSON.parse(host.received.at(-1) ?? "");
            expect(answer.id).toBe(isOpen(id) ? undefined : id);
            expected.push(host.received.at(-1) ?? "");
          }
        } else if (step.kind === "cancel") {
          const { id } = step;
          const params = { requestId: id };
          await host.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
          for (const call of calls) if (call.id === id) call.isOpen = false;
          server.received.splice(calls.length);
        } else {
          const call = calls[step.which % Math.max(1, calls.length)];
          if (call === undefined) continue;
          const { gateId } = call;
          const gateText = JSON.stringify(gateId);
          const hostText = JSON.stringify(call.id);
          if (step.kind === "progress") {
            const progress = (token: string) =>
              `{"jsonrpc":"2.0",${step.space}"method":"notifications/progress","params":{"progressToken":${token},"progress":1.50}}`;
            await server.say(progress(gateText));
            if (call.isOpen) expected.push(progress(JSON.stringify(`of ${hostText}`)));
          } else {
            const answer = (id: string) =>
              `{"result":${step.space}{"content":[],"n":1e1},"jsonrpc":"2.0","id":${id}}`;
            await server.say(answer(gateText));
            if (call.isOpen) expected.push(answer(hostText));
            call.isOpen = false;
          }
        }
      }
      expect(host.received).toEqual(expected);
      for (const { gateId, isOpen: open } of calls) {
        if (open) await server.say({ jsonrpc: "2.0", id: gateId ?? null, result: { content: [] } });
      }
    }),
    { numRuns: RUNS },
  );
});
