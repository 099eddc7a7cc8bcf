import { describe, expect, test } from "vitest";
import { allowsUrl } from "../../src/caveats/url-form.js";
import { readWrittenUrls } from "../../src/caveats/written-urls.js";
import { problemsIn } from "./support.js";

/** Returns the problems of a caveat that limits a URL to one host and one port. */
function problems(host: string, port = "443"): readonly string[] {
  const url = { hosts: [host], ports: [port], schemes: ["https"] };
  return problemsIn(JSON.stringify({ operationConstraints: { get: { x: { url } } } }));
}

const REFUSED_HOST = ["caveat_malformed operationConstraints.get.x.url.hosts"];
const REFUSED_PORT = ["caveat_malformed operationConstraints.get.x.url.ports"];

describe("a limit on URLs accepts the host", () => {
  test.each([
    "example",
    "a.example",
    ".a.example",
    "0x.example",
    "7.example",
    "a.b1",
    "a.b0x",
    "192.0.2.1",
    "0.0.0.255",
    "[::]",
    "[::1]",
    "[2001:db8::]",
    "[2001:db8::1:0:0:1]",
    "[1:2:3:4:5:6:7:8]",
    "[0:1:2:3:4:5:6:7]",
    "[1:0:2::]",
  ])("%s", (host) => {
    expect(problems(host)).toEqual([]);
    if (host.startsWith(".")) return;
    const limit = { schemes: ["https"], hosts: [host] };
    expect(allowsUrl(limit, `https://${host}/`)).toBe(true);
  });
});

describe("a limit on URLs refuses the host", () => {
  test.each([
    ["that is empty", ""],
    ["that is the dot alone", "."],
    ["in capitals", "A.example"],
    ["whose last label is a number", "a.1"],
    ["whose last label begins like a hexadecimal number", "a.0x1"],
    ["with an octet above 255", "192.0.2.256"],
    ["with three octets", "192.0.2"],
    ["below which names are encoded", ".xn--a.example"],
    ["whose bracket is not closed", "[::1"],
    ["whose bracket is not opened", "::1]"],
    ["with two gaps", "[1::2::3]"],
    ["with a gap for no group", "[1:2:3:4::5:6:7:8]"],
    ["with a gap for one group", "[1:2:3:4:5:6:7::]"],
    ["with seven groups", "[1:2:3:4:5:6:7]"],
    ["with nine groups", "[1:2:3:4:5:6:7:8:9]"],
    ["with nine groups and a gap", "[1:2:3:4::5:6:7:8:9]"],
    ["with a gap that is not the longest", "[1::2:0:0:0:3]"],
    ["without its gap", "[1:0:0:2:3:4:5:6]"],
    ["with a zero before a group", "[01::]"],
  ])("%s: %s", (_, host) => {
    expect(problems(host)).toEqual(REFUSED_HOST);
    expect(allowsUrl({ schemes: ["https"], hosts: [host] }, `https://${host}/`)).toBe(false);
  });
});

describe("the port of a limit on URLs", () => {
  test.each(["1", "80", "65535"])("may be %s", (port) => {
    expect(problems("a.example", port)).toEqual([]);
  });

  test.each(["0", "080", "65536", "100000", "80.5", "80a", "", "-1"])("may not be %j", (port) => {
    expect(problems("a.example", port)).toEqual(REFUSED_PORT);
  });
});

describe("URLs that a person writes for a limit", () => {
  const mistake = (...urls: readonly string[]) => {
    const read = readWrittenUrls(urls, "write https://host/folder");
    return read.ok ? undefined : read.mistake;
  };

  test("cannot be an empty list, and the refusal has a hint", () => {
    expect(mistake()).toEqual({
      problem: "the URL is missing",
      hint: "write https://host/folder",
    });
  });

  test("are refused with a hint if the limit would also allow another scheme with one of their hosts, even a host with *", () => {
    expect(mistake("https://*.a.example", "http://b.example")).toEqual({
      problem: "this limit would allow https://b.example:443 too",
      hint: "add https://b.example:443, or give fewer URLs: a limit allows every combination of schemes, hosts and ports",
    });
    expect(mistake("http://b.example", "https://*.a.example")?.problem).toBe(
      "this limit would allow http://*.a.example:80 too",
    );
  });
});
