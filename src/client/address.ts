import { ClientError } from "./client-error.js";

/** The URLs of an agent. */
export interface AgentAddress {
  /** The URL of the agent's Agent Card. */
  readonly card: URL;
  /** The URL of the card in A2A before 0.3; absent if the given URL is that of a card. */
  readonly olderCard?: URL;
  /** Origins to which requests with secrets may go. */
  readonly origins: readonly string[];
}

/** Options for reading a URL. */
export interface AddressOptions {
  /** Allows plain HTTP to other machines. */
  readonly insecure?: boolean;
  /** The data that would travel unencrypted over plain HTTP, for messages; `tokens` unless given. */
  readonly cargo?: string;
}

const WELL_KNOWN = ".well-known/agent-card.json";
const OLDER_WELL_KNOWN = ".well-known/agent.json";

/**
 * Reads the URL of a card (ending in `.json`), or of an agent whose card is at the well-known path.
 *
 * @throws ClientError `address_invalid`, or `address_insecure` if secrets would be sent unencrypted.
 */
export function readAddress(text: string, options: AddressOptions = {}): AgentAddress {
  const url = readUrl(text, "the address", options);
  const origins = [url.origin];
  url.hash = "";
  if (url.pathname.endsWith(".json")) return { card: url, origins };
  url.search = "";
  const folder = url.pathname.replace(/\/$/, "");
  const olderCard = new URL(url);
  url.pathname = `${folder}/${WELL_KNOWN}`;
  olderCard.pathname = `${folder}/${OLDER_WELL_KNOWN}`;
  return { card: url, olderCard, origins };
}

/**
 * Returns whether a request may go to a URL. The URL must have one of the origins. All loopback names of this machine
 * are treated as equal, if scheme and port are the same.
 */
export function isWithin(url: URL, origins: readonly string[]): boolean {
  return origins.some((origin) => {
    if (url.origin === origin) return true;
    const { hostname, port, protocol } = new URL(origin);
    const samePlace = url.port === port && url.protocol === protocol;
    return samePlace && isLoopback(hostname) && isLoopback(url.hostname);
  });
}

/**
 * Reads a URL to which tokens or other data are sent.
 *
 * @param what - The beginning of messages.
 * @throws ClientError as {@link readAddress} does.
 */
export function readUrl(
  text: string,
  what: string,
  { insecure = false, cargo = "tokens" }: AddressOptions,
): URL {
  const badAddress = (problem: string): ClientError =>
    new ClientError("address_invalid", `${what} ${problem}`);
  // "agent.example:8080" would be parsed as a URL with the scheme "agent.example".
  if (!/^https?:\/\//i.test(text)) throw badAddress("does not begin with https://");
  if (!URL.canParse(text)) throw badAddress("is not a valid URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw badAddress("holds a user's name or password, before the @");
  }
  if (url.protocol === "https:" || isLoopback(url.hostname) || insecure) return url;
  const message = `${what} is plain http: ${cargo} would travel to ${url.host} in clear`;
  throw new ClientError("address_insecure", message, url.origin);
}

/** Returns whether a host is a loopback name of this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.*\.localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(hostname);
}
