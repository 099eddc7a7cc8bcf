import { expect, test } from "vitest";
import { startConsole, type TestConsole, type TestConsoleOptions } from "./support.js";

const RATE = { requests: 3, seconds: 600 };

async function withConsole(
  options: TestConsoleOptions,
  use: (console: TestConsole) => Promise<void>,
): Promise<void> {
  const console = await startConsole({ rate: RATE, ...options });
  try {
    await use(console);
  } finally {
    await console.close();
  }
}

async function statuses(console: TestConsole, path: string, from: readonly string[]) {
  const visitor = console.visitor();
  const found: number[] = [];
  for (const address of from) {
    const headers = { "X-Forwarded-For": address };
    found.push((await visitor.once(path, { headers })).status);
  }
  return found;
}

test("each address that a trusted proxy forwards has its own rate limit", async () => {
  await withConsole({ trustedProxies: ["loopback"] }, async (console) => {
    const flood = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"];
    expect(await statuses(console, "/signed-out", flood)).toEqual([200, 200, 200, 429, 200]);
    // An address that the client itself has written comes before the one that the proxy adds.
    const forged = await statuses(console, "/signed-out", ["203.0.113.9, 192.0.2.1"]);
    expect(forged).toEqual([429]);
  });
});

test("all addresses of an IPv6 /64 network share one rate limit", async () => {
  await withConsole({ trustedProxies: ["127.0.0.0/8"] }, async (console) => {
    const near = ["2001:db8::1", "2001:db8:0:0:ffff::2", "2001:DB8:0:0::3", "2001:db8::4"];
    const apart = ["2001:db8:0:1::1", "::ffff:192.0.2.1", "::ffff:192.0.2.2", "192.0.2.1"];
    const answers = await statuses(console, "/signed-out", [...near, ...apart]);
    expect(answers).toEqual([200, 200, 200, 429, 200, 200, 200, 200]);
  });
});

test("an IPv4 address has one rate limit, in whichever IPv6 form a proxy writes the address", async () => {
  await withConsole({ trustedProxies: ["loopback"] }, async (console) => {
    const same = ["::ffff:c000:201", "::FFFF:192.0.2.1", "0:0:0:0:0:ffff:c000:0201", "192.0.2.1"];
    const apart = ["::ffff:c000:202", "::ffff:c000:203", "::ffff:a00:1", "::ffff:0:0"];
    const answers = await statuses(console, "/signed-out", [...same, ...apart]);
    expect(answers).toEqual([200, 200, 200, 429, 200, 200, 200, 200]);
  });
});

test("forwarded addresses are ignored if they do not come from a trusted proxy", async () => {
  for (const options of [{}, { trustedProxies: ["192.0.2.0/24"] }]) {
    await withConsole(options, async (console) => {
      const many = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
      expect(await statuses(console, "/signed-out", many)).toEqual([200, 200, 200, 429]);
    });
  }
});

test("the style sheet does not count towards the rate limit of pages, and sign-ins have a limit of their own", async () => {
  await withConsole({}, async (console) => {
    const here = Array.from({ length: 5 }, () => "192.0.2.1");
    expect(await statuses(console, "/signed-out", here)).toEqual([200, 200, 200, 429, 429]);
    expect(await statuses(console, "/style.css", here)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(console, "/login", here)).toEqual([200, 200, 200, 429, 429]);
  });
});

test("a trusted proxy that is not an address or a range is refused, and the error names options.trustedProxies", async () => {
  for (const wrong of ["proxy.example", "10.0.0.0/33", "true"]) {
    const starting = startConsole({ trustedProxies: [wrong] });
    await expect(starting).rejects.toThrow(/^options\.trustedProxies: /);
  }
});
