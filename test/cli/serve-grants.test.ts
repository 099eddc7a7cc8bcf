import { beforeAll, expect, test } from "vitest";
import { Bench, type Document, document } from "./run.js";
import { CONFIG, serve, WAIT, writeAgent } from "./serving.js";

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  writeAgent(bench);
});

/** Lists grants by id in the configuration of the home. */
function list(grants: Readonly<Record<string, readonly string[]>> | undefined): void {
  const { grants: _before, ...config } = JSON.parse(bench.read("home/config.json"));
  const entries = Object.entries(grants ?? {}).map(([id, operations]) => ({ id, operations }));
  const listed = grants === undefined ? {} : { grants: entries };
  bench.write("home/config.json", JSON.stringify({ ...config, ...listed }));
}

/** Returns the problems of an agent configuration that contradicts the home. */
async function differences(config: Document = CONFIG): Promise<string[]> {
  bench.write("other.json", JSON.stringify(config));
  const [json, words] = await Promise.all([
    bench.run(["serve", "other.json", "--port", "0", "--json"]),
    bench.run(["serve", "other.json", "--port", "0"]),
  ]);
  for (const run of [json, words]) expect(run).toMatchObject({ status: 6, stdout: "" });
  const { error } = document(json.stderr);
  expect(error).toMatchObject({ code: "config_invalid" });
  const messages: string[] = error["problems"].map(({ message }: Document) => message);
  for (const message of messages) expect(words.stderr).toContain(`\n  ${message}\n`);
  return messages;
}

const file = `${bench.home}/config.json`;
const wayOut = 'make them agree, or leave "grants" out of the home';

test("serve accepts a home that lists the same grants in another order and with repeated operations", async () => {
  list({ "notes:wait": ["wait", "wait"], "notes:read": ["read"] });
  const { capability, outcome } = await serve(bench);
  const token = await capability(WAIT);
  expect(await outcome("wait", { ms: 1 }, token)).toBe("allowed");
  // `proviso verify` judges the agent's tokens by the same list of grants.
  const { stdout } = await bench.run(["verify", token, "--op", "wait"]);
  expect(stdout).toMatch(/^allowed\n/);
});

test("serve names every grant that differs between the configuration and the home, with both lists of operations", async () => {
  list({ "notes:read": ["read", "delete"], "notes:archive": ["read"] });
  expect(await differences()).toEqual([
    `grants: "notes:read" has read here, and delete, read in ${file}; ${wayOut}`,
    `grants: "notes:wait" has wait here, and no place in ${file}; ${wayOut}`,
    `grants: "notes:archive" has no place here, and read in ${file}; ${wayOut}`,
  ]);
});

test("serve requires the home to list each operation of a legacy grant whose operations are * in the configuration", async () => {
  const legacy = { id: "notes:all", description: "All", operations: ["*"], legacy: true };
  const config = { ...CONFIG, grants: [...CONFIG["grants"], legacy] };
  const listed = { "notes:read": ["read"], "notes:wait": ["wait"] };
  list({ ...listed, "notes:all": ["read"] });
  expect(await differences(config)).toEqual([
    `grants: "notes:all" has read, wait here, and read in ${file}; ${wayOut}`,
  ]);
  list({ ...listed, "notes:all": ["wait", "read"] });
  await serve(bench, config);
});

test("serve accepts a home that lists no grants", async () => {
  list(undefined);
  await serve(bench);
});
