/**
 * Returns a number with its noun, such as `1 host` or `2 hosts`.
 *
 * @param noun - In the singular. The plural must end in `s`.
 */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
