import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { revocationId } from "../../src/index.js";
import { createStores, openRevocations, openStores } from "../../src/stores/index.js";
import { send } from "../protocols/a2a/callers.js";
import { throughStores } from "../support/databases.js";
import { Bench } from "./run.js";
import { CONFIG, POLICY, serveSpawned, WAIT, writeAgent } from "./serving.js";

// A process may be stopped for a while: by SIGSTOP, a suspended machine or a paused container. Requests and
// revocations may arrive in the meantime. When the process continues, the revocations apply to these requests.

const CALLS = 40;
const PAUSE = 3000;
/** After this many milliseconds, all events have been written to the ledger. */
const IDLE = 1000;

throughStores((place) => {
  test("calls that waited while the process was stopped are refused if their token was revoked or the policy changed", async () => {
    const bench = new Bench();
    await bench.init();
    writeAgent(bench);
    const database = await place();
    await (await createStores(database)).close();
    bench.write("policy.json", JSON.stringify(POLICY));
    const config = { ...CONFIG, policy: "policy.json", database };
    const { running, url, capability, outcome } = await serveSpawned(bench, config);
    const parent = await capability(WAIT);
    const tokens = await Promise.all(
      Array.from({ length: CALLS }, () => bench.output("attenuate", parent, "--op", "wait")),
    );
    const spare = await capability(WAIT);
    const call = (all: readonly string[]) =>
      Promise.all(all.map((token) => outcome("wait", { ms: 1 }, token)));
    // Each call leaves an open connection. The process reads the next call from it as soon as it continues.
    expect(await call(tokens)).toEqual(tokens.map(() => "allowed"));

    const revoking = await openStores(database);
    const revocations = await openRevocations(revoking);
    const at = "2026-01-01T00:00:00Z";
    // If the process were stopped during a write, it would keep the lock.
    await sleep(IDLE);
    // The process closes a connection that has had no request for five seconds.
    await Promise.all(tokens.map(() => send(`${url}/healthz`)));
    running.child.kill("SIGSTOP");
    const answers = call(tokens);
    const over = sleep(PAUSE);
    await Promise.all(
      tokens.map((token) => revocations.add({ kind: "link", id: revocationId(token), at })),
    );
    await over;
    running.child.kill("SIGCONT");
    expect(await answers).toEqual(tokens.map(() => "revoked"));
    await revoking.close();
    const spares = tokens.map(() => spare);
    expect(await call(spares)).toEqual(spares.map(() => "allowed"));

    // A change of the policy file applies to waiting requests in the same way.
    running.child.kill("SIGSTOP");
    bench.write("policy.json", JSON.stringify({ rules: [] }));
    const denied = call(spares);
    await sleep(1000);
    running.child.kill("SIGCONT");
    expect(await denied).toEqual(spares.map(() => "policy_denied"));
  });
});
