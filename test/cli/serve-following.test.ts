import { existsSync, renameSync, rmSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { handlesIn } from "../../src/agent/arguments.js";
import { inspect } from "../../src/index.js";
import { at, textAt } from "../protocols/a2a/callers.js";
import { Bench, type Document } from "./run.js";
import {
  CONFIG,
  eventually,
  NOTES,
  POLICY,
  type Serving,
  serve,
  serveSpawned,
  sleep,
  TOKENS,
  WAIT,
  writeAgent,
} from "./serving.js";

// Other processes change the keys, the revocations and the policy while the agent runs.

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  writeAgent(bench);
});

const WAITING = { ms: 1 };

test("a running agent mints with the new key after keys rotate, and refuses tokens of the old key after keys retire", async () => {
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
  // `keys retire` first revokes the key, and then removes it.
  await eventually(async () => (await outcome("wait", WAITING, old)) === "unknown_key");
  expect(await outcome("wait", WAITING, fresh)).toBe("allowed");
});

test("a running agent refuses a token revoked by another command, and still allows its sibling", async () => {
  const { capability, outcome, running } = await serve(bench, CONFIG, ["--metrics", "127.0.0.1:0"]);
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
  const [, address = ""] = /^metrics (\S+)$/m.exec(running.stderr) ?? [];
  const metrics = await (await fetch(address)).text();
  expect(metrics).toMatch(/^proviso_revocation_entries [1-9]\d*$/m);
  expect(metrics).toMatch(/^proviso_decisions_total\{.*code="revoked".*\} [1-9]/m);
});

test("a revocation by the running agent is visible to other commands", async () => {
  const { capability, rpc } = await serve(bench);
  const token = await capability(WAIT);
  const { body } = await rpc("a2a/capabilities/revoke", { token });
  const id = textAt(body, "result", "revocationId");
  expect(await bench.output("revocations", "list")).toContain(id);
  expect((await bench.run(["verify", token, "--grant", "notes:wait", "--op", "wait"])).status).toBe(
    5,
  );
});

/** Replaces the policy file by renaming a new file, as editors do. */
function writePolicy(policy: Document | string): void {
  bench.write("policy.new", typeof policy === "string" ? policy : JSON.stringify(policy));
  renameSync(bench.path("policy.new"), bench.path("policy.json"));
}

/** Starts an agent with a separate policy file. */
function serveWithPolicy(policy: Document): Promise<Serving> {
  writePolicy(policy);
  return serve(bench, { ...CONFIG, policy: "policy.json" });
}

test("a running agent applies a changed policy file; it reports a broken policy file, and keeps the policy that it has", async () => {
  const { running, capability, outcome, rpc } = await serveWithPolicy(POLICY);
  const token = await capability(WAIT);
  expect(await outcome("wait", WAITING, token)).toBe("allowed");

  // The new policy lacks the permission, so the capability is no longer enough.
  writePolicy({ rules: [POLICY["rules"][0]] });
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
    writePolicy(broken);
    await running.says(told, "stderr");
    expect(await outcome("wait", WAITING, token)).toBe("policy_denied");
    const { body } = await rpc("a2a/capabilities/request", { ...NOTES, purpose: "p" });
    expect(at(body, "result", "capabilities", 0, "grant")).toBe("notes:read");
  }
  rmSync(bench.path("policy.json"));
  await running.says(/WARNING: .*policy\.json: there is no such file/, "stderr");
  const warnings = running.stderr.match(/^WARNING: .*policy stays as it was$/gm) ?? [];
  expect(warnings).toHaveLength(4);

  // Restore the permission by writing to the existing file.
  bench.write("policy.json", JSON.stringify(POLICY));
  await eventually(async () => (await outcome("wait", WAITING, token)) === "allowed");
  running.stop();
  expect(await running.ended).toBe(0);
});

test("a running agent reports a broken policy file once, and again when the file changes", async () => {
  const { running, outcome, capability } = await serveWithPolicy(POLICY);
  const token = await capability(WAIT);
  const warnings = (): number =>
    running.stderr.match(/^WARNING: .*policy\.json:1:2: /gm)?.length ?? 0;
  for (const count of [1, 2]) {
    writePolicy("{");
    await eventually(async () => warnings() === count);
    await sleep(800);
    expect(warnings()).toBe(count);
  }
  expect(await outcome("wait", WAITING, token)).toBe("allowed");
});

/** Skills, one of which blocks the whole process soon after its answer, until the test writes the file `go`. */
const HOLD = `
  import { existsSync, writeFileSync } from "node:fs";
  import { join } from "node:path";
  import skills from "./skills.mjs";
  function block(folder) {
    writeFileSync(join(folder, "held"), "");
    const cell = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(join(folder, "go"))) Atomics.wait(cell, 0, 0, 10);
  }
  export default async function (parts) {
    const module = await skills(parts);
    const hold = {
      id: "hold",
      name: "Hold",
      description: "Blocks the process",
      operation: "wait",
      reach: "none",
      input: { type: "object" },
      async run() {
        setTimeout(() => block(parts.configFolder), 100);
        return {};
      },
    };
    return { ...module, skills: [...module.skills, hold] };
  }
`;

test("a changed policy file applies to a call that arrived while the agent's process was blocked", async () => {
  writePolicy(POLICY);
  bench.write("hold.mjs", HOLD);
  const config = { ...CONFIG, policy: "policy.json", skills: "hold.mjs" };
  const { running, capability, outcome } = await serveSpawned(bench, config);
  const token = await capability(WAIT);

  expect(await outcome("hold", {}, token)).toBe("allowed");
  await eventually(async () => existsSync(bench.path("held")));
  writePolicy({ rules: [] });
  // The process reads this call from an open connection, as soon as it continues.
  const call = outcome("wait", WAITING, token);
  await sleep(1000);
  bench.write("go", "");
  expect(await call).toBe("policy_denied");
  running.stop();
});

test("an agent with recheck: true in a grant evaluates the request's query again at each call", async () => {
  const [read, wait]: Document[] = CONFIG["grants"];
  const { capability, outcome } = await serve(bench, {
    ...CONFIG,
    grants: [{ ...read, recheck: true }, wait],
  });
  const filter = { year: { min: 2025 } };
  const token = await capability({ ...NOTES, resourceQuery: { collection: "notes", filter } });
  const note = handlesIn(await bench.json("inspect", token))[0] ?? "";
  expect(await outcome("read_note", { note }, token)).toBe("allowed");
  bench.write("notes-folder/notes/milk.md", "---\ntitle: Milk\nyear: 2020\n---\nBuy milk.\n");
  expect(await outcome("read_note", { note }, token)).toBe("policy_denied");
  bench.write("notes-folder/notes/milk.md", "---\ntitle: Milk\nyear: 2026\n---\nBuy milk.\n");
  expect(await outcome("read_note", { note }, token)).toBe("allowed");
});

test("a policy file can limit arguments: in the capabilities that are requested, and at each call", async () => {
  const [read, wait] = POLICY["rules"];
  const limited = (max: number): Document => ({
    rules: [read, { ...wait, operationConstraints: { wait: { ms: { max } } } }],
  });
  const { running, url, outcome } = await serveWithPolicy(limited(5));
  bench.write("access", `${TOKENS.alice}\n`);
  const by = [url, "--access-token", "@access"];
  const token = await bench.output("request", ...by, "--grant", "notes:wait");
  bench.write("wait.token", token);
  expect(inspect(token.trim()).links.at(-1)?.hop).toEqual({
    operationConstraints: { wait: { ms: { max: 5 } } },
  });
  const refused = await bench.run(["invoke", ...by, "wait", "@wait.token", "--arg", "ms=6"]);
  expect(refused.stderr).toContain('argument "ms" must be a number of at most 5; it is 6');
  expect(await outcome("wait", { ms: 5 }, token.trim())).toBe("allowed");
  writePolicy(limited(4));
  await running.says(/policy\.json: the new policy is in force\n/, "stderr");
  expect(await outcome("wait", { ms: 5 }, token.trim())).toBe("policy_denied");
  expect(await outcome("wait", { ms: 4 }, token.trim())).toBe("allowed");
});
