import { type AllowedOrigins, addressRefused, isNamed, specialKind } from "./address-rules.js";
import { ClientError } from "./client-error.js";
import { type Address, hostAddresses, type Resolve } from "./pinned-addresses.js";

/**
 * Checks a place that another client is going to ask and look up again: every address must be public unless
 * the caller named the place.
 *
 * @param timeout - Milliseconds for the look-up.
 * @throws ClientError `address_refused`, `unreachable` or `timed_out`
 */
export async function assertReachable(
  url: URL,
  origins: AllowedOrigins,
  timeout: number,
  resolve?: Resolve,
): Promise<void> {
  const found = await within(timeout, url, hostAddresses(url, resolve));
  if (found.length === 0) throw notFound(url);
  if (isNamed(url, origins)) return;
  const [kind] = found.flatMap(({ address }) => specialKind(address) ?? []);
  if (kind !== undefined) throw addressRefused(url, kind);
}

/** The system's resolver cannot be stopped: what it finds too late is passed over. */
function within(
  timeout: number,
  url: URL,
  found: Promise<readonly Address[]>,
): Promise<readonly Address[]> {
  return new Promise((resolve, reject) => {
    const late = (): void => {
      const message = `the host of ${url.origin} was not found in time`;
      reject(new ClientError("timed_out", message, url.origin));
    };
    const timer = setTimeout(late, timeout);
    found.then(resolve, () => reject(notFound(url))).finally(() => clearTimeout(timer));
  });
}

function notFound({ origin }: URL): ClientError {
  return new ClientError("unreachable", `the host of ${origin} is not found`, origin);
}
