import { expect, test } from "vitest";
import { objectIn } from "../../../src/client/received.js";
import { type Answer, driver, linked, said } from "./driver.js";
import { bank } from "./served-bank.js";

// Hosts that no user has taken on, over HTTP.

const approvalIn = ({ body }: Answer) => objectIn(body["approval"]);

test("strangers that name a user get a code once her list has no room, and her own agents ask on", async () => {
  const home = await bank({ settings: { bounds: { pendingPerUser: 2 } } });
  const hinted = { login_hint: "alice", preferred_method: "ciba" };
  const methods: unknown[] = [];
  let last: Answer | undefined;
  for (let at = 0; at < 4; at++) {
    last = await (await driver(home)).register(hinted);
    expect(said(last)).toBe("200");
    methods.push(approvalIn(last)["method"]);
  }
  expect(methods).toEqual(["ciba", "ciba", "device_authorization", "device_authorization"]);
  expect(last === undefined ? {} : approvalIn(last)).toMatchObject({
    ...{ user_code: expect.any(String), verification_uri: expect.any(String) },
  });

  const own = await linked(home);
  const asked = await own.request(["transfer_funds"], { preferred_method: "ciba" });
  expect(said(asked)).toBe("200");
  expect(approvalIn(asked)).toMatchObject({ method: "ciba" });
  const waiting = await home.registry.approvals.waitingFor("alice");
  expect(waiting.map(({ subject }) => subject.principal)).toEqual(["alice", undefined, undefined]);
});
