import { expect, test } from "vitest";
import { CHANNELS } from "./attack/channel.js";
import { listSkill } from "./authority.js";
import { quietly } from "./quiet.js";
import { marksIn } from "./world/holdings.js";
import { SERVICES } from "./world/people.js";
import { World } from "./world/world.js";

// Workers have no rights of their own, so a worker's refused call without a capability would prove nothing. The
// user's own access token has every right, and is refused without a capability too.
test("in mode require, every service refuses a user's access token without a capability on every channel", async () => {
  const world = await World.open({ mode: "require", runTask: async () => ({ done: true }) });
  try {
    for (const service of SERVICES) {
      const connection = world.connect(service, "alice", "orchestrator");
      for (const [at, channel] of CHANNELS.entries()) {
        const attempt = { skill: listSkill(service), given: {}, presented: [] };
        const call = (): Promise<unknown> => channel(connection, attempt).catch(() => {});
        const heard = await quietly(() => world.listen(call));
        const text = heard.map((answer) => answer.text).join("\n");
        expect([service, at, text]).toEqual([service, at, expect.stringContaining(REASON)]);
        expect([text.includes("rh_"), marksIn(text)]).toEqual([false, []]);
      }
    }
  } finally {
    await world.close();
  }
});

const REASON = "capability_missing";
