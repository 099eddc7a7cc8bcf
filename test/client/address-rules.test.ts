import { describe, expect, test } from "vitest";
import {
  hostAndPort,
  isNamed,
  readHostAndPort,
  specialKind,
} from "../../src/client/address-rules.js";
import { ClientError } from "../../src/client/client-error.js";

describe("specialKind", () => {
  test.each([
    ["0.0.0.0", "an unspecified"],
    ["10.1.2.3", "a private"],
    ["100.64.0.1", "a carrier's inner (CGNAT)"],
    ["100.127.255.255", "a carrier's inner (CGNAT)"],
    ["127.0.0.1", "a loopback"],
    ["127.255.255.255", "a loopback"],
    ["169.254.169.254", "a link-local"],
    ["172.16.0.1", "a private"],
    ["172.31.255.255", "a private"],
    ["192.168.1.1", "a private"],
    ["192.0.0.8", "a reserved"],
    ["198.18.0.1", "a benchmark"],
    ["224.0.0.1", "a multicast"],
    ["255.255.255.255", "a reserved"],
    ["::", "an unspecified"],
    ["::1", "a loopback"],
    ["::ffff:127.0.0.1", "an IPv4-mapped"],
    ["::ffff:8.8.8.8", "an IPv4-mapped"],
    ["::ffff:7f00:1", "an IPv4-mapped"],
    ["::7f00:1", "a reserved"],
    ["64:ff9b::7f00:1", "a translated (NAT64)"],
    ["64:ff9b:1::1", "a translated (NAT64)"],
    ["fc00::1", "a unique local"],
    ["fd12:3456::1", "a unique local"],
    ["fe80::1", "a link-local"],
    ["fe80::1%eth0", "a link-local"],
    ["ff02::1", "a multicast"],
    ["2001:0:1::1", "a reserved"],
    ["2001:db8::1", "a documentation"],
    ["2002:7f00:1::", "a relay's (6to4)"],
    ["not an address", "an unreadable"],
  ])("calls %s %s address", (address, kind) => {
    expect(specialKind(address)).toBe(kind);
  });

  test.each([
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.167.1.1",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450::1",
    "2003::1",
  ])("returns undefined for the public address %s", (address) => {
    expect(specialKind(address)).toBeUndefined();
  });
});

test.each([
  ["http://127.0.0.1:81/x", "127.0.0.1:81"],
  ["https://agent.example/x", "agent.example:443"],
  ["http://agent.example/x", "agent.example:80"],
  ["http://[::1]:8080/x", "[::1]:8080"],
])("hostAndPort(%s) is %s", (url, expected) => {
  expect(hostAndPort(new URL(url))).toBe(expected);
});

test("isNamed is true only for a URL with an origin in named, or with a host and port in allowHosts", () => {
  const reach = { named: ["http://127.0.0.1:1"], allowHosts: ["localhost:443"] };
  const named = (url: string): boolean => isNamed(new URL(url), reach);
  expect(named("http://127.0.0.1:1/x")).toBe(true);
  expect(named("http://127.0.0.1:2/x")).toBe(false);
  expect(named("https://localhost/x")).toBe(true);
  expect(named("http://localhost/x")).toBe(false);
});

test.each([
  ["localhost:8080", "localhost:8080"],
  ["LocalHost:443", "localhost:443"],
  ["[::1]:80", "[::1]:80"],
])("readHostAndPort reads %s as %s", (text, expected) => {
  expect(readHostAndPort(text)).toBe(expected);
});

test.each(["localhost", "::1:80", "a b:1", "a/b:1", "a@b:1", "x:99999", ":80", "", "http://x:1"])(
  "readHostAndPort refuses %j",
  (text) => {
    expect(() => readHostAndPort(text)).toThrow(ClientError);
  },
);
