import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFixedTokens } from "../../../src/auth/index.js";
import { withCapability } from "../../../src/protocols/a2a/client/index.js";
import { openTaskStore, serveAgent } from "../../../src/protocols/a2a/index.js";
import { createStores } from "../../../src/stores/index.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import {
  BINDINGS,
  type BindingName,
  callOf,
  failureOf,
  quietConsole,
  resultOf,
  sdkClient,
  taskIn,
} from "../a2a/callers.js";
import { type Driver, granted, linked, said } from "./driver.js";
import { type Bank, bank } from "./served-bank.js";

// Tests tokens that an approver has bound to an agent, and unbound tokens, over every protocol of one issuing agent.

const TOKEN = "development-token-of-bob";

/** Serves the bank's agent over A2A, too. @returns The address of the A2A server. */
async function overA2A({ agent }: Bank): Promise<string> {
  quietConsole();
  const database = await createStores(join(temporaryFolder(), "tasks.db"), { reserve: 0 });
  const tasks = await openTaskStore(database);
  const announce = (): void => {};
  const server = await serveAgent({
    agent,
    tasks,
    card: { name: "Bank", description: "A bank", version: "1" },
    authenticator: createFixedTokens([{ token: TOKEN, principal: "bob", invoker: "assistant" }], {
      development: true,
      announce,
    }),
    log: { info() {}, warn() {}, error() {} },
  });
  onTestFinished(async () => {
    await server.close();
    await tasks.close();
    await database.close();
  });
  return server.url;
}

const PAYMENT = { amount: 1, to: "acc_A" };

/** Returns what another caller gets over A2A with a token: the result, or the refusal. */
async function paid(url: string, binding: BindingName, token: string): Promise<string> {
  const holder = await withCapability(await sdkClient(url, binding, TOKEN), token);
  const call = holder.sendMessage(callOf("transfer_funds", PAYMENT));
  return call.then(
    (answer) => JSON.stringify(resultOf(taskIn(answer))),
    async () => String(await failureOf(call)),
  );
}

async function holder(home: Bank, bound: boolean): Promise<Driver> {
  const one = await linked(home);
  const answer = await one.request(["transfer_funds"]);
  const hops = bound ? { hops: { 0: { invokers: [one.agentId] } } } : {};
  await one.decide(answer, "approve", hops);
  return one;
}

test.each(BINDINGS)(
  "over A2A with %s, another caller is refused with the bound token of an agent, and accepted with an unbound token",
  async (binding) => {
    const home = await bank();
    const url = await overA2A(home);
    const free = await holder(home, false);
    expect(await paid(url, binding, await free.token("transfer_funds"))).toBe(
      '{"id":"transfer_1"}',
    );
    const bound = await holder(home, true);
    const token = await bound.token("transfer_funds");
    expect(await paid(url, binding, token)).toMatch(/invoker/);
    expect(home.ran).toEqual(["transfer_funds 1 acc_A"]);
    // The agent's own calls are allowed with the bound token and without a token. Another agent's call with the bound
    // token is refused.
    expect(said(await bound.execute("transfer_funds", PAYMENT, token))).toBe("200");
    expect(said(await bound.execute("transfer_funds", PAYMENT))).toBe("200");
    const other = await granted(home, ["delete_payee"]);
    const stolen = await other.execute("transfer_funds", PAYMENT, token);
    expect(said(stolen)).toBe("403 capability_not_granted");
    expect(stolen.headers.get("proviso-denial")).toBe("invoker_denied");
  },
);
