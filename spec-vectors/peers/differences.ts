import { readVectors } from "../../cli/vectors/file.js";
import { EXPLANATIONS, type Explanation, explain } from "./explanations.js";
import { type Difference, type Kind, PEERS, type Peer } from "./peers.js";

const TITLES: Readonly<Record<Kind, string>> = {
  accepts: "Accepts what must be rejected",
  crashes: "Crashes",
  hangs: "Hangs",
  rejects: "Rejects what is valid",
  "not supported": "Does not support",
};

/** A peer with its differences, and the version of the peer that has them. */
export interface Compared {
  readonly peer: Peer;
  readonly version: string;
  readonly differences: readonly Difference[];
}

/** Formats the differences of all peers as `DIFFERENCES.md`. */
export function differencesPage(compared: readonly Compared[], folder: URL): string {
  const total = readVectors(folder).filter(({ file }) => file === "macaroon.json").length;
  const names = PEERS.map(({ name }) => name).join(" and ");
  const lines = [
    "# Where other libraries differ",
    "",
    `The ${total} tests of [macaroon.json](../macaroon.json) run through ${names}, which read and verify`,
    "generic macaroons. Only the verdict is compared: their errors have other names than section 3's codes.",
    "First-party caveats all hold, but for those that say `unmet`. One more test than the vectors have was",
    "run, a number that goes on for a megabyte. Written by `npm run vectors:peers`.",
    "",
    "Differences in the base64, in numbers and in unknown properties let one token have many texts: harmless",
    "where texts are not compared, and a trap where they are (caches, deny lists, signatures over the text).",
    ...compared.flatMap((one) => peerSection(one, total)),
  ];
  return `${lines.join("\n")}\n`;
}

function peerSection({ peer, version, differences }: Compared, total: number): string[] {
  const counts = (Object.keys(TITLES) as Kind[])
    .map((kind) => [kind, differences.filter((one) => one.kind === kind)] as const)
    .filter(([, own]) => own.length > 0);
  return [
    "",
    `## ${peer.name} ${version}`,
    "",
    `Agrees on ${total + 1 - differences.length} of ${total + 1} tests.`,
    ...counts.flatMap(([kind, own]) => kindTable(peer, kind, own)),
  ];
}

function kindTable(peer: Peer, kind: Kind, differences: readonly Difference[]): string[] {
  const groups = new Map<Explanation, Difference[]>();
  for (const difference of differences) {
    const why = explain(peer.name, difference);
    if (why === undefined) throw new Error(`${peer.name}: nothing explains ${label(difference)}`);
    groups.set(why, [...(groups.get(why) ?? []), difference]);
  }
  const rows = [...groups].sort(([a], [b]) => rank(peer, a) - rank(peer, b));
  return [
    "",
    `### ${TITLES[kind]}`,
    "",
    "| expected | tests | what it does | ids |",
    "| --- | --- | --- | --- |",
    ...rows.map(
      ([why, own]) => `| ${expectedBy(own)} | ${own.length} | ${why.why} | ${ids(own)} |`,
    ),
  ];
}

function rank(peer: Peer, explanation: Explanation): number {
  return EXPLANATIONS[peer.name].indexOf(explanation);
}

function expectedBy(differences: readonly Difference[]): string {
  const codes = differences.map(({ vector: { test } }) =>
    "code" in test ? `\`${test.code}\`` : "valid",
  );
  const distinct = [...new Set(codes)];
  return distinct.length > 6 ? "any" : distinct.join(", ");
}

/** Formats ids. Consecutive ids are shown as a range. */
function ids(differences: readonly Difference[]): string {
  const runs: [number, number][] = [];
  for (const { vector } of differences) {
    const { tcId } = vector.test;
    const last = runs.at(-1);
    if (last !== undefined && last[1] === tcId - 1) last[1] = tcId;
    else runs.push([tcId, tcId]);
  }
  return runs
    .map(([from, to]) => (from === to ? String(from || "megabyte") : `${from}–${to}`))
    .join(", ");
}

function label({ kind, said, vector }: Difference): string {
  return `${kind} ${vector.test.tcId} (${vector.test.comment}): ${said}`;
}
