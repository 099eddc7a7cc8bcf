import { expect, test } from "vitest";
import { createFixedTokens } from "../../../src/auth/index.js";
import { startAgent } from "../../support/a2a-agent.js";
import { sized } from "../../support/size.js";
import { quietConsole } from "./callers.js";
import { type CallerOf, LoopingCaller, World } from "./looping-caller.js";

const CALLERS = 100;
const SECONDS = sized(10, 1, 30);

const ALL: readonly CallerOf[] = Array.from({ length: CALLERS }, (_, at) => ({
  principal: `user-${at % 20}`,
  invoker: `agent-${at % 25}`,
  token: `development-token-${String(at).padStart(3, "0")}`,
}));

test(`in ${SECONDS} seconds, no call of ${CALLERS} concurrent callers is decided wrongly`, {
  timeout: 60_000,
}, async () => {
  quietConsole();
  const agent = await startAgent({
    authenticator: createFixedTokens(ALL, { development: true, announce: () => {} }),
    rate: { requests: 1_000_000, seconds: 1 },
  });
  try {
    const analysts = [...new Set(ALL.map(({ principal }) => principal))];
    const open = { collections: ["reports"], filter: { confidential: false } };
    agent.policy.replace({
      groups: { analysts },
      rules: [
        { group: "analysts", grant: "documents:read", operations: "*", resources: open },
        { group: "analysts", grant: "payments:send", operations: "*" },
      ],
    });
    const world = new World(agent);
    const end = performance.now() + SECONDS * 1000;
    await Promise.all(ALL.map((who, seed) => new LoopingCaller(world, who, seed + 1).until(end)));
    const { allowed, refused, revocations, attenuations, requests, wrong } = world;
    expect(wrong.slice(0, 5)).toEqual([]);
    for (const count of [allowed, refused, revocations, attenuations])
      expect(count).toBeGreaterThanOrEqual(sized(1, 0));
    // Every decision is in the ledger, and only allowed skills ran.
    const decisions = (await agent.ledger.list({ kind: "invocation" })).map(
      ({ decision }) => decision,
    );
    expect(decisions.filter((decision) => decision === "allowed").length).toBe(allowed);
    expect(decisions.filter((decision) => decision === "refused").length).toBe(refused);
    expect(agent.ran.length).toBe(allowed);
    console.info(
      `${allowed + refused} calls (${allowed} allowed, ${refused} refused), ${requests} requests, ` +
        `${attenuations} attenuations, ${revocations} revocations in ${SECONDS} s; none was decided wrongly`,
    );
  } finally {
    await agent.remove();
  }
});
