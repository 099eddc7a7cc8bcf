import { expect, test } from "vitest";
import { throughStores } from "../../support/databases.js";
import { type Answer, Driver, driver, linked, newKey, said, send } from "./driver.js";
import { type Bank, type BankOptions, bank } from "./served-bank.js";

// Tests the limits on how many hosts without a user may register within an hour: per address, per network, and in
// total.

const HOUR = 60 * 60 * 1000;
const PROXIED: BankOptions = { trustedProxies: ["127.0.0.1"] };

/** Registers a new host from a client address, which a trusted proxy forwards. */
async function from(
  home: Bank,
  address: string,
  { by, key }: { by?: Driver; key?: string } = {},
): Promise<Answer> {
  const headers = {
    "X-Forwarded-For": address,
    ...(key === undefined ? {} : { "Idempotency-Key": key }),
  };
  return (by ?? (await driver(home))).register({}, { headers });
}

async function answers(home: Bank, addresses: readonly string[]): Promise<readonly string[]> {
  const all: string[] = [];
  for (const address of addresses) all.push(said(await from(home, address)));
  return all;
}

const LATE = "429 rate_limited";

throughStores((place) => {
  const opened = async (bounds: NonNullable<BankOptions["settings"]>["bounds"], more = PROXIED) =>
    bank({ ...more, settings: { bounds: bounds ?? {} }, place: await place() });

  test("the number of new hosts per address is limited, and other addresses can still register hosts", async () => {
    const home = await opened({ pendingHostsPerAddress: 2 });
    const crowd = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1"];
    expect(await answers(home, crowd)).toEqual(["200", "200", LATE, LATE]);
    expect(await answers(home, ["192.0.2.2", "198.51.100.7"])).toEqual(["200", "200"]);
    const refused = await from(home, "192.0.2.1");
    expect(refused.headers.get("retry-after")).toBe("3600");
    expect(refused.body["message"]).toBe(
      "at most 2 hosts without a user may register from this address within an hour; wait 3600 s, or have a user approve one of them",
    );
    home.clock.now += 10 * 60 * 1000;
    expect((await from(home, "192.0.2.1")).headers.get("retry-after")).toBe("3000");
    home.clock.now += 50 * 60 * 1000;
    expect(await answers(home, ["192.0.2.1"])).toEqual(["200"]);
  });

  test("the number of new hosts per IPv4 network of 24 bits is limited", async () => {
    const home = await opened({ pendingHostsPerAddress: 2, pendingHostsPerNetwork: 3 });
    const crowd = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.255"];
    expect(await answers(home, crowd)).toEqual(["200", "200", "200", LATE, LATE]);
    expect((await from(home, "192.0.2.9")).body["message"]).toContain(
      "from this network of addresses",
    );
    // An IPv4 address counts as the same address when it is written as an IPv6 address.
    expect(await answers(home, ["::ffff:192.0.2.9", "192.0.3.1"])).toEqual([LATE, "200"]);
  });

  test("for the limits of new hosts, an IPv6 prefix of 64 bits is one address and a prefix of 48 bits is one network", async () => {
    const home = await opened({ pendingHostsPerAddress: 1, pendingHostsPerNetwork: 2 });
    const crowd = [
      "2001:db8:1:1::1",
      "2001:db8:1:1:ffff::2",
      "2001:db8:1:2::1",
      "2001:db8:1:3::1",
      "2001:db8:2:1::1",
      "2001:db8::1",
      "2001:db8:0:0:5::1",
    ];
    expect(await answers(home, crowd)).toEqual(["200", LATE, "200", LATE, "200", "200", LATE]);
  });

  test("the limit of new hosts is exact for concurrent registrations", async () => {
    const home = await opened({ pendingHostsPerAddress: 3 });
    const together = await Promise.all(
      Array.from({ length: 10 }, async () => said(await from(home, "192.0.2.1"))),
    );
    expect(together.filter((one) => one === "200")).toHaveLength(3);
    expect(together.filter((one) => one === LATE)).toHaveLength(7);
  });

  test("the limit of new hosts does not count further agents of a known host, nor a host that a user has linked", async () => {
    const home = await opened({ pendingHostsPerAddress: 1 });
    const address = "192.0.2.1";
    const host = await newKey();
    const first = new Driver(home, host, await newKey());
    const asked = await from(home, address, { by: first });
    expect(said(asked)).toBe("200");
    expect(await answers(home, [address])).toEqual([LATE]);
    // The limit does not apply to another agent of the waiting host, nor to an agent of a user's host.
    const second = new Driver(home, host, await newKey());
    expect(said(await from(home, address, { by: second }))).toBe("200");
    const own = await linked(home);
    const sister = new Driver(home, own.host, await newKey());
    expect(said(await from(home, address, { by: sister }))).toBe("200");
    // When a user links the first host, the host no longer counts towards the limit, and the server deletes its
    // address.
    await first.decide(asked);
    const known = await home.parties.hostByKey(host.thumbprint);
    expect(known).toMatchObject({ status: "active", principal: "alice" });
    expect(known).not.toHaveProperty("from");
    expect(await answers(home, [address, address])).toEqual(["200", LATE]);
  });

  test("a host that revokes itself counts against its address's limit of new hosts for an hour", async () => {
    const home = await opened({ pendingHostsPerAddress: 1 });
    const one = await driver(home);
    const headers = { "X-Forwarded-For": "192.0.2.1" };
    expect(said(await one.register({ mode: "autonomous" }, { headers }))).toBe("200");
    expect(said(await one.asHost("/host/revoke", {}))).toBe("200");
    expect(await answers(home, ["192.0.2.1"])).toEqual([LATE]);
    home.clock.now += HOUR;
    expect(await answers(home, ["192.0.2.1"])).toEqual(["200"]);
  });

  test("a registration repeated with its idempotency key from another address gets the same agent", async () => {
    const home = await opened({});
    const one = await driver(home);
    const first = await from(home, "192.0.2.1", { by: one, key: "once" });
    const again = await from(home, "198.51.100.1", { by: one, key: "once" });
    expect(said(again)).toBe("200");
    expect(again.body["agent_id"]).toBe(first.body["agent_id"]);
  });

  test("behind a proxy that is not trusted, all callers count as one address", async () => {
    const home = await opened({ pendingHostsPerAddress: 2 }, {});
    const crowd = ["192.0.2.1", "198.51.100.1", "203.0.113.1"];
    expect(await answers(home, crowd)).toEqual(["200", "200", LATE]);
  });
});

test("the total number of new hosts is limited, and a registration above the limit leaves nothing in the ledger", async () => {
  const home = await bank({ ...PROXIED, settings: { bounds: { pendingHosts: 2 } } });
  const crowd = ["192.0.2.1", "198.51.100.1", "203.0.113.1"];
  expect(await answers(home, crowd)).toEqual(["200", "200", LATE]);
  const events = await home.events();
  expect(events.filter(({ decision }) => decision === "refused")).toEqual([]);
  expect(events.filter(({ change }) => change === "host.registered")).toHaveLength(2);
});

test("by default, an address can register 20 hosts in an hour", async () => {
  const home = await bank(PROXIED);
  const crowd = Array.from({ length: 21 }, () => "192.0.2.1");
  expect((await answers(home, crowd)).indexOf(LATE)).toBe(20);
  expect(said(await send(`${home.url}/.well-known/agent-configuration`))).toBe("200");
});
