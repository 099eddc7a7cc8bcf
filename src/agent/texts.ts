/** @throws TypeError naming what is not an array of non-empty texts. */
export function texts(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) throw new TypeError(`${where}: must be an array of texts`);
  return value.map((item: unknown, at) => {
    if (typeof item === "string" && item !== "") return item;
    throw new TypeError(`${where}[${at}]: must be a text`);
  });
}
