const WIDTH = 100;

/**
 * Formats JSON for human readers. A value that fits on a line is written on one line; any other value has a
 * line for each element or property. Characters outside ASCII are escaped, so that no editor or checkout
 * changes the strings under test.
 */
export function format(value: unknown): string {
  return `${ascii(layOut(value, ""))}\n`;
}

function layOut(value: unknown, indent: string): string {
  const line = onOneLine(value);
  if (typeof value !== "object" || value === null) return line;
  if (indent.length + line.length <= WIDTH) return line;
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item) => layOut(item, inner))
    : Object.entries(value).map(
        ([name, member]) => `${JSON.stringify(name)}: ${layOut(member, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${items.map((item) => inner + item).join(",\n")}\n${indent}${close}`;
}

function onOneLine(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${onOneLine(member)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function ascii(text: string): string {
  return text.replace(
    /[^\x20-\x7e\n]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
