/**
 * Whether `htu` is an address. Compared as RFC 9449, section 4.3 says: normalized by RFC 3986, sections 6.2.2 and
 * 6.2.3, and without query and fragment.
 */
export function isAddress(htu: string, address: string): boolean {
  return URL.canParse(htu) && normalized(htu) === normalized(address);
}

function normalized(address: string): string {
  // Cases, dots in the path and the scheme's own port are normalized by this already.
  const { origin, pathname } = new URL(address);
  return origin + pathname.replaceAll(/%[0-9a-f]{2}/gi, unreserved);
}

/** An octet that needs no encoding as it is, and any other in capital letters. */
function unreserved(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
}
