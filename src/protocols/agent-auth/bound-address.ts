/**
 * Returns whether the `htu` of a JWT names an address. Compares the two URLs as RFC 9449, section 4.3, demands: without
 * query and fragment, and normalized by RFC 3986, sections 6.2.2 and 6.2.3.
 */
export function isAddress(htu: string, address: string): boolean {
  return URL.canParse(htu) && normalized(htu) === normalized(address);
}

function normalized(address: string): string {
  // `URL` has already normalized case, dot segments and the default port.
  const { origin, pathname } = new URL(address);
  return origin + pathname.replaceAll(/%[0-9a-f]{2}/gi, unreserved);
}

/** Decodes a percent-encoded octet if it needs no encoding; writes any other octet in upper case. */
function unreserved(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
}
