import type { Random } from "../../fuzz/random.js";
import { randomSegment } from "./random-paths.js";

const SCHEMES = ["https", "https", "https", "http", "ws", "wss"];
const STRANGE_SCHEMES = ["HTTPS", "ftp", "javascript", "file", "httpss", " https", "https:", ""];
const NAMES =
  "example.com api.example.com a.b.example.com badexample.com localhost a-b.c1 1.a".split(" ");
const ADDRESSES = "127.0.0.1 0.0.0.0 255.255.255.255 [::1] [::] [2001:db8::1] [1:0:0:2::3]".split(
  " ",
);
const LONG = "a.".repeat(121);
/** Strings that are not hosts in the strict form, and edge cases of hosts in the strict form. */
const STRANGE_HOSTS = [
  ..."2130706433 127.1 0x7f.1 0x7f000001 0177.0.0.1 1.2.3.4.5 1.2.3.256 1.2.3.04 a.0x a.0xg a.08 a.1".split(
    " ",
  ),
  ..."[::1%25eth0] [fe80::1%eth0] [::ffff:1.2.3.4] [0:0:0:0:0:0:0:1] [1::2:0:0:3:4] [1:0:0:2::3:4]".split(
    " ",
  ),
  ..."[::A] [::01] [1:2:3:4:5:6:7::] [1:2:3:4:5:6::] [::1 ::1 [] [v1.a] [1:2:3:4:5:6:7:8]".split(
    " ",
  ),
  ..."xn--nxasmq6b.example.com xn--a.example.com XN--A.example.com a.xn--p1ai bücher.example.com".split(
    " ",
  ),
  ...". .example.com ..example.com example.com. -a.example.com a-.example.com a_b.example.com".split(
    " ",
  ),
  ..."EXAMPLE.com exa%6dple.com user@example.com example.com:pw@evil.com example.com\\@evil.com".split(
    " ",
  ),
  ..."example.com#@evil.com evil.com?example.com".split(" "),
  "",
  `${"a".repeat(63)}.example.com`,
  `${"a".repeat(64)}.example.com`,
  `${LONG}example.com`,
  `${LONG.slice(2)}example.com`,
  `${LONG}example.org`.slice(1),
];
const PORTS = ["1", "80", "443", "8080", "65535"];
const STRANGE_PORTS = ["", ..."0 080 65536 99999 100000 8o +80 -1 0x50 ８０".split(" "), "80 "];
const STRANGE_CHARACTERS = [
  ..."\t\n\r\0 \\@:/?#%[];|^é\u3002\uff0f\ud800",
  ..."// %2F %2e %5c %00 %0a %C0%AF %ED%A0%80 %F4%90%80%80 %FF %C3%A9 %c3%a9 %C2%A0 %E2%80%8B".split(
    " ",
  ),
  ..."%EF%BC%8F %20 %3A %3B %3F %23 %EF%BC%9B %CD%BE %41".split(" "),
];
const LETTERS = [..."abcdefgxyz0123456789-.:[]@%A_~!$&'()*+,;="];

/** Generates a host. The smaller `odd` is, the more often the result is only nearly a host. */
function randomHost(random: Random, odd = 5): string {
  if (random.once(odd)) return random.pick(STRANGE_HOSTS);
  if (random.once(2 * odd))
    return random.many(1 + random.below(12), () => random.pick(LETTERS)).join("");
  if (random.once(odd)) return randomIpv6(random);
  return random.once(4) ? random.pick(ADDRESSES) : random.pick(NAMES);
}

/** Generates an IPv6 address, or a string that is nearly one, with or without `::`. */
function randomIpv6(random: Random): string {
  const groups = random.many(6 + random.below(3), () =>
    random.pick(["0", "0", "0", "1", "ff", "abcd"]),
  );
  const text = groups.join(":");
  const start = random.below(groups.length);
  const end = start + 1 + random.below(groups.length - start);
  const shortened = `${groups.slice(0, start).join(":")}::${groups.slice(end).join(":")}`;
  return `[${random.once(4) ? text : shortened}]`;
}

/** Generates one to three entries of `hosts`. */
export function randomHosts(random: Random): string[] {
  return random.many(1 + random.below(3), () => {
    const host = randomHost(random, 20);
    return random.once(3) ? `.${random.once(20) ? host : random.pick(NAMES)}` : host;
  });
}

export function randomScheme(random: Random): string {
  return random.once(50) ? random.pick(STRANGE_SCHEMES) : random.pick(SCHEMES);
}

export function randomPort(random: Random): string {
  return random.once(20) ? random.pick(STRANGE_PORTS) : random.pick(PORTS);
}

/** Generates a segment of a URL's path, in the strict form or nearly. */
function urlSegment(random: Random, odd: number): string {
  const text = random.once(3)
    ? randomSegment(random, odd)
    : random.pick(["a", "v1", "v2", "a.b", "é b", "x~", "(1)", "@me"]);
  const literal = random.once(2 * odd) ? /[A-Za-z0-9]/ : /[A-Za-z0-9._~!$&'()*+,=@-]/;
  return [...text].map((one) => (literal.test(one) ? one : escaped(one))).join("");
}

function escaped(character: string): string {
  return [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}

/** Generates the path of a URL. The smaller `odd` is, the more often the result is only nearly such a path. */
export function randomUrlPath(random: Random, odd = 8): string {
  const segments = random.many(random.below(4), () => urlSegment(random, odd));
  return `/${segments.join("/")}`;
}

/**
 * Generates a URL, or a string that is nearly one. Given `hosts` and `folder`, the URL often has one of these hosts
 * and a path below the folder.
 */
export function randomUrl(random: Random, hosts: readonly string[] = [], folder = ""): string {
  const entry = hosts.length === 0 || random.once(4) ? randomHost(random) : random.pick(hosts);
  const host =
    entry.startsWith(".") && !random.once(6)
      ? random.pick(["a", "a.b", "xn--nxasmq6b", ""]) + entry
      : entry;
  const port = random.once(3) ? `:${randomPort(random)}` : "";
  const own = randomUrlPath(random);
  const path = random.once(5) ? own : (folder === "/" ? "" : folder) + own;
  const query = random.once(5)
    ? `?${random.pick(["", "a=b", "/../x", "a?b", "@evil.com/", "a b", "%zz", '"<>'])}`
    : "";
  const fragment = random.once(8) ? `#${random.pick(["", "top", "a#b", "/x?y", "a\tb"])}` : "";
  const end = random.once(8) ? "/" : "";
  return damaged(
    random,
    `${randomScheme(random)}://${host}${port}${path}${end}${query}${fragment}`,
  );
}

/** Returns a text, one time in four with a character added, removed or replaced. */
function damaged(random: Random, text: string): string {
  if (!random.once(4)) return text;
  const at = random.below(text.length + 1);
  const inserted = random.once(3) ? random.pick(LETTERS) : random.pick(STRANGE_CHARACTERS);
  return text.slice(0, at) + (random.once(4) ? "" : inserted) + text.slice(at + random.below(2));
}
