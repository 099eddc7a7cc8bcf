const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_NAME = 253;
const GROUP = /^(0|[1-9a-f][0-9a-f]{0,3})$/;
const GROUPS = 8;

/** Returns whether a string is a host in the strict form (docs/spec.md, section 5.3). */
export function isHost(text: string): boolean {
  if (text.startsWith("[")) return text.endsWith("]") && isIpv6(text.slice(1, -1));
  return isName(text) || isIpv4(text);
}

/** Returns whether an entry of `hosts` is a host, or a suffix such as `.example.com`. */
export function isHostEntry(entry: string): boolean {
  if (!entry.startsWith(".")) return isHost(entry);
  const name = entry.slice(1);
  return isName(name) && !hasEncodedLabel(name);
}

/**
 * Returns whether an entry of `hosts` allows a host: both are equal, or the entry is a suffix and the host is below
 * the suffix.
 */
export function allowsHost(entry: string, host: string): boolean {
  if (!entry.startsWith(".")) return entry === host;
  return host.endsWith(entry) && host.length > entry.length && !hasEncodedLabel(host);
}

/** Returns whether `outer` allows every host that `inner` allows. Both are entries of `hosts`. */
export function allowsHostEntry(outer: string, inner: string): boolean {
  if (!inner.startsWith(".")) return allowsHost(outer, inner);
  return outer.startsWith(".") && inner.endsWith(outer);
}

/** Returns whether a string consists of lower-case LDH labels, the last of which no parser reads as a number. */
function isName(text: string): boolean {
  if (text.length > MAX_NAME) return false;
  const labels = text.split(".");
  const last = labels[labels.length - 1] ?? "";
  return labels.every((label) => LABEL.test(label)) && !/^(\d+$|0x)/.test(last);
}

/** Returns whether a name has a label that IDNA decodes to other characters, which a reader of the name cannot see. */
function hasEncodedLabel(name: string): boolean {
  return name.split(".").some((label) => label.startsWith("xn--"));
}

function isIpv4(text: string): boolean {
  const octets = text.split(".");
  return (
    octets.length === 4 &&
    octets.every((one) => /^(0|[1-9]\d{0,2})$/.test(one) && Number(one) <= 255)
  );
}

/** Returns whether a string is an IPv6 address as written by RFC 5952, entirely in hexadecimal. */
function isIpv6(text: string): boolean {
  const [before = "", after, ...more] = text.split("::");
  if (more.length > 0) return false;
  const left = groupsOf(before);
  const right = groupsOf(after ?? "");
  if (![...left, ...right].every((group) => GROUP.test(group))) return false;
  const missing = GROUPS - left.length - right.length;
  if (after === undefined ? missing !== 0 : missing < 2) return false;
  const zeros: string[] = new Array(missing).fill("0");
  return canonicalIpv6([...left, ...zeros, ...right]) === text;
}

function groupsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(":");
}

/**
 * Formats eight groups. Writes the longest run of two or more zeros as `::`, and the first one if several are equally
 * long.
 */
function canonicalIpv6(groups: readonly string[]): string {
  let [start, length] = [0, 0];
  for (let at = 0; at < groups.length; at++) {
    let end = at;
    while (groups[end] === "0") end++;
    if (end - at > length) [start, length] = [at, end - at];
    at = Math.max(at, end);
  }
  if (length < 2) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
}
