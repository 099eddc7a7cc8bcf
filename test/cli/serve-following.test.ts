import { renameSync, rmSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { at, textAt } from "../protocols/a2a/callers.js";
import { Bench, type Document } from "./run.js";
import { CONFIG, eventually, NOTES, POLICY, serve, sleep, WAIT, writeAgent } from "./serving.js";

// What changes while the agent runs: its keys, its revocations and its policy, each by others.

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  writeAgent(bench);
});

const WAITING = { ms: 1 };

test("keys that other commands rotate and retire are the running agent's at once", async () => {
  const { capability, outcome } = await serve(bench);
  const old = await capability(WAIT);
  const [first]: Document[] = (await bench.json("keys", "list"))["keys"];
  expect(await bench.output("inspect", old)).toContain(first?.["kid"]);

  const { minting } = await bench.json("keys", "rotate");
  await sleep(150);
  const fresh = await capability(WAIT);
  expect(await bench.output("inspect", fresh)).toContain(minting);
  expect(await outcome("wait", WAITING, old)).toBe("allowed");

  await bench.output("keys", "retire", String(first?.["kid"]));
  await eventually(async () => (await outcome("wait", WAITING, old)) !== "allowed");
  expect(await outcome("wait", WAITING, old)).toBe("unknown_key");
  expect(await outcome("wait", WAITING, fresh)).toBe("allowed");
});

test("what other commands revoke is refused, and its sibling is not", async () => {
  const { capability, outcome, url } = await serve(bench);
  const parent = await capability(WAIT);
  const children = await Promise.all(
    [1, 2].map(() => bench.output("attenuate", parent, "--op", "wait")),
  );
  const [child = "", sibling = ""] = children;
  expect(await outcome("wait", WAITING, child)).toBe("allowed");
  await bench.output("revoke", child, "--reason", "a test");
  await eventually(async () => (await outcome("wait", WAITING, child)) !== "allowed");
  expect(await outcome("wait", WAITING, child)).toBe("revoked");
  expect(await outcome("wait", WAITING, sibling)).toBe("allowed");
  expect(await outcome("wait", WAITING, parent)).toBe("allowed");
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/^proviso_revocation_entries [1-9]\d*$/m);
  expect(metrics).toMatch(/^proviso_decisions_total\{.*code="revoked".*\} [1-9]/m);
});

test("what the agent itself revokes is known to other commands", async () => {
  const { capability, rpc } = await serve(bench);
  const token = await capability(WAIT);
  const { body } = await rpc("a2a/capabilities/revoke", { token });
  const id = textAt(body, "result", "revocationId");
  expect(await bench.output("revocations", "list")).toContain(id);
  expect((await bench.run(["verify", token, "--grant", "notes:wait", "--op", "wait"])).status).toBe(
    5,
  );
});

test("a policy file is followed; one that is broken leaves the policy as it was, and is told", async () => {
  const write = (policy: Document | string): void => {
    // As editors do: another file takes its place.
    bench.write("policy.new", typeof policy === "string" ? policy : JSON.stringify(policy));
    renameSync(bench.path("policy.new"), bench.path("policy.json"));
  };
  write(POLICY);
  const { running, capability, outcome, rpc } = await serve(bench, {
    ...{ ...CONFIG, policy: "policy.json" },
  });
  const token = await capability(WAIT);
  expect(await outcome("wait", WAITING, token)).toBe("allowed");

  // Taken away: the capability is there, and no longer enough.
  write({ rules: [POLICY["rules"][0]] });
  await running.says(/policy\.json: the new policy is in force\n/, "stderr");
  expect(await outcome("wait", WAITING, token)).toBe("policy_denied");

  for (const [broken, told] of [
    ["{", /WARNING: .*policy\.json:1:2: this is not JSON; the policy stays as it was\n/],
    [
      { rules: [{ principal: "alice", grant: "notes:wiat", operations: "*" }] },
      /WARNING: .*rules\[0\]\.grant: there is no grant "notes:wiat".*; the policy stays as it was\n/,
    ],
    [{ rules: [{ group: "x", grant: "*", operations: "*" }] }, /WARNING: .*no group "x"/],
  ] as const) {
    write(broken);
    await running.says(told, "stderr");
    expect(await outcome("wait", WAITING, token)).toBe("policy_denied");
    const { body } = await rpc("a2a/capabilities/request", { ...NOTES, purpose: "p" });
    expect(at(body, "result", "capabilities", 0, "grant")).toBe("notes:read");
  }
  rmSync(bench.path("policy.json"));
  await running.says(/WARNING: .*policy\.json: there is no such file/, "stderr");
  const warnings = running.stderr.match(/^WARNING: .*policy stays as it was$/gm) ?? [];
  expect(warnings).toHaveLength(4);

  // Given back, written in place.
  bench.write("policy.json", JSON.stringify(POLICY));
  await eventually(async () => (await outcome("wait", WAITING, token)) === "allowed");
  running.child.kill("SIGTERM");
  expect(await running.ended).toBe(0);
});
