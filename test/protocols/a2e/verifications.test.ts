import { expect, test, vi } from "vitest";
import { RootKey } from "../../../src/macaroon/root-key.js";
import { hosted, joined } from "./support.js";

// Every verification of a token starts with exactly one tag under the root key, so the tags count the verifications.

const tag = vi.spyOn(RootKey.prototype, "tag");

test("the host verifies a token once per session, whatever the number of calls and periodic checks", async () => {
  const host = await hosted();
  const tokens = [host.token("tools"), host.token("memory"), host.token("tools")];
  tag.mockClear();
  const session = await joined(host, ["tools", "memory"], [...tokens, ...tokens.slice(0, 1)]);
  for (let at = 0; at < 5; at++) {
    await session.call("tool/call", { name: "add", arguments: { a: 1, b: 1 } });
    await session.call("memory/get", { arguments: { key: "k" } });
    host.timers.turn(1000);
  }
  await session.ping();
  expect(tag).toHaveBeenCalledTimes(tokens.length);
});
