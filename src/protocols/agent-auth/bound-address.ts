/**
 * Returns whether `htu` is this URL. Compared as in RFC 9449, section 4.3: without query and fragment,
 * normalized by RFC 3986, sections 6.2.2 and 6.2.3.
 */
export function isAddress(htu: string, address: string): boolean {
  return URL.canParse(htu) && normalized(htu) === normalized(address);
}

function normalized(address: string): string {
  // `URL` has already normalized case, dot segments and the default port.
  const { origin, pathname } = new URL(address);
  return origin + pathname.replaceAll(/%[0-9a-f]{2}/gi, unreserved);
}

/** Decodes an octet that needs no encoding, and writes any other in upper case. */
function unreserved(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
}
