import type { Authority } from "../../src/caveats/authority.js";
import type { ArgumentDomain, Domain } from "../../src/caveats/domain.js";
import type { UrlLimit } from "../../src/caveats/hop.js";
import type { Invocation } from "../../src/caveats/invocation.js";

/**
 * Returns whether an authority contains a call, by the documentation of `Authority` alone. The function is
 * independent of the code under test. It serves to compare the meet of all hops with judging hop by hop.
 */
export function contains(
  authority: Authority,
  call: Invocation & { readonly time: Date },
): boolean {
  const handles = call.resourceHandles ?? [];
  const given = call.arguments ?? {};
  const now = call.time.getTime();
  const { operations, resourceHandles, audience, invokers } = authority;
  const { operationConstraints = {}, arguments: lists = {} } = authority;
  const { constraints = {}, expires, notBefore, furtherHops } = authority;
  return (
    isMember(operations, call.operation) &&
    (resourceHandles === undefined ||
      (handles.length > 0 && handles.every((handle) => resourceHandles.includes(handle)))) &&
    Object.entries(constraints).every(
      ([name, domain]) => Object.hasOwn(given, name) && hasValue(domain, given[name]),
    ) &&
    applying(operationConstraints, call.operation).every((domains) =>
      Object.entries(domains).every(([name, domain]) => hasArgument(domain, name, given)),
    ) &&
    applying(lists, call.operation).every((names) =>
      Object.keys(given).every((name) => given[name] === undefined || names.includes(name)),
    ) &&
    (expires === undefined || now < Date.parse(expires)) &&
    (notBefore === undefined || now >= Date.parse(notBefore)) &&
    isMember(audience, call.audience) &&
    isMember(invokers, call.invoker) &&
    (furtherHops === undefined || furtherHops >= 0)
  );
}

/** Returns the entry for `operation` and the entry `*`. */
function applying<T>(entries: { readonly [operation: string]: T }, operation: string): T[] {
  return Object.entries(entries).flatMap(([name, entry]) =>
    name === "*" || name === operation ? [entry] : [],
  );
}

function hasArgument(
  domain: ArgumentDomain,
  name: string,
  given: { readonly [name: string]: unknown },
): boolean {
  let value: unknown = given;
  const tokens = name.startsWith("/") ? name.slice(1).split("/") : [name];
  for (const token of tokens.map((one) => one.replaceAll("~1", "/").replaceAll("~0", "~"))) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const members = new Map(Object.entries(value));
    if (members.get(token) === undefined) return domain.missing;
    value = members.get(token);
  }
  return hasElement(domain, value);
}

function hasElement(domain: ArgumentDomain, value: unknown): boolean {
  const { types, items = { min: 0, max: 256 }, each, path, prefix, url } = domain;
  if (Array.isArray(value)) {
    if (!types.includes("array") || value.length < items.min || value.length > items.max)
      return false;
    return each === undefined || value.every((one) => hasElement(each, one));
  }
  if (!hasValue({ ...domain, types: types.filter((type) => type !== "array") }, value))
    return false;
  if (typeof value !== "string") return true;
  if (path !== undefined && !isInFolder(path, value)) return false;
  if (prefix !== undefined && value.slice(0, prefix.length) !== prefix) return false;
  return url === undefined || hasUrl(url, value);
}

function isInFolder(folder: string, value: string): boolean {
  const segments = value.split("/");
  const wanted = folder === "/" ? [""] : folder.split("/");
  if (segments.slice(1).some((one) => one === "") && value !== "/") return false;
  if (segments.some((one) => one.includes(":") || one.includes("."))) return false;
  return wanted.every((one, at) => segments[at] === one);
}

function hasUrl({ schemes, hosts, ports, path = "/" }: UrlLimit, value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  const standard = url.protocol === "https:" ? "443" : "80";
  const isHost = (host: string): boolean =>
    host.startsWith(".") ? url.hostname.endsWith(host) : url.hostname === host;
  return (
    schemes.includes(url.protocol.slice(0, -1)) &&
    hosts.some(isHost) &&
    (ports ?? [standard]).includes(url.port || standard) &&
    (path === "/" || url.pathname === path || url.pathname.startsWith(`${path}/`))
  );
}

function isMember(set: readonly string[] | undefined, value: string | undefined): boolean {
  return set === undefined || (value !== undefined && set.includes(value));
}

function hasValue(domain: Domain, value: unknown): boolean {
  const type = value === null ? "null" : typeof value;
  if (!domain.types.some((one) => one === type)) return false;
  if (domain.in !== undefined && domain.in.indexOf(value as never) < 0) return false;
  if (domain.not_in !== undefined && domain.not_in.indexOf(value as never) >= 0) return false;
  if (typeof value !== "number") return domain.min === undefined && domain.max === undefined;
  if (!Number.isFinite(value)) return false;
  return value >= (domain.min ?? -Infinity) && value <= (domain.max ?? Infinity);
}
