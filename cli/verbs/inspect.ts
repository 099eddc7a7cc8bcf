import type { Command } from "commander";
import { type Inspection, inspect } from "../../src/capability/inspect.js";
import { parseTime } from "../../src/caveats/time.js";
import { readMacaroons } from "../../src/macaroon/read.js";
import { writeMacaroons } from "../../src/macaroon/write.js";
import type { Context } from "../context.js";
import { seenFromNow } from "../moment.js";
import {
  type Paint,
  printAnswer,
  printable,
  quoted,
  type Row,
  renderRows,
  stdoutPaint,
} from "../output.js";
import { namingSource, readMacaroonArgument, TOKEN_HELP } from "../token-argument.js";
import { authorityRows, rawText, renderLinks } from "../token-words.js";
import { act, addExamples, type GlobalOptions } from "../verb.js";

interface Options extends GlobalOptions {
  readonly reveal?: boolean;
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("inspect")
    .summary("what a token says, unverified")
    .description(
      "Shows what a token says: its hops, what they leave together, time left, size, revocation " +
        "id. Works on any macaroon, in binary too, needs no home and no key, and verifies nothing.",
    )
    .argument("[token]", TOKEN_HELP)
    .option("--reveal", "also print the signature and the token itself: keep the output secret")
    .action(act(context, run));
  addExamples(command, [
    "proviso inspect @token",
    "proviso inspect --json < token",
    "proviso attenuate @token --op retrieve | proviso inspect",
  ]);
}

function run(context: Context, options: Options, argument?: string): void {
  const text = readMacaroonArgument(context, argument);
  const now = Date.now();
  const inspection = namingSource(argument, () => inspect(text, { now }));
  const revealed = options.reveal === true ? reveal(text) : undefined;
  const end = parseTime(inspection.authority.expires ?? "");
  const secondsLeft = end === undefined ? undefined : Math.floor((end - now) / 1000);
  const lines = render(inspection, revealed, stdoutPaint(context), now);
  printAnswer(context, options, { ...inspection, secondsLeft, ...revealed }, lines);
}

/**
 * Returns the parts that make a token usable: the token itself, and its signature in hexadecimal. They are
 * printed only on request.
 */
function reveal(text: string): { readonly signature: string; readonly token: string } {
  const { macaroons } = readMacaroons(text);
  const signature = Buffer.from(macaroons[0].signature).toString("hex");
  return { signature, token: writeMacaroons(macaroons, "v2") };
}

function render(
  inspection: Inspection,
  revealed: ReturnType<typeof reveal> | undefined,
  paint: Paint,
  now: number,
): string[] {
  const { authority, discharges, warnings } = inspection;
  const lines = [
    `${paint.yellow("Nothing was verified.")} This is what the token says; only its issuer can verify`,
    "whether it is genuine (proviso verify).",
    "",
    ...renderRows(headRows(inspection, now), paint),
    "",
    ...renderLinks(inspection, paint, now),
  ];
  for (const [at, discharge] of discharges.entries()) {
    lines.push("", paint.bold(`discharge ${at + 1}`));
    lines.push(...renderRows([["identifier", rawText(discharge.identifier)]], paint));
    lines.push(...renderLinks(discharge, paint, now));
  }
  if (inspection.capability !== undefined) {
    lines.push("", paint.bold("what all hops together leave"));
    lines.push(...renderRows(authorityRows(authority, now), paint, "  "));
  }
  if (warnings.length > 0) lines.push("");
  for (const { message } of warnings)
    lines.push(`${paint.yellow("warning")}: ${printable(message)}`);
  if (revealed !== undefined) {
    lines.push("", paint.red("secret: any holder of this can use the token"));
    lines.push(...renderRows(Object.entries(revealed), paint));
  }
  return lines;
}

function headRows(inspection: Inspection, now: number): Row[] {
  const { capability, service, authority, bytes, format, revocationId, identifier, location } =
    inspection;
  const rows: Row[] = [];
  if (capability === undefined) rows.push(["identifier", rawText(identifier)]);
  else {
    const { id, grant, principal, iss, kid, issued } = capability;
    rows.push(["capability", printable(id)], ["grant", quotedIfOdd(grant)]);
    if (principal !== undefined) rows.push(["principal", quotedIfOdd(principal)]);
    rows.push(["issuer", `${quotedIfOdd(iss)}, key ${quotedIfOdd(kid)}`]);
    if (service !== undefined) rows.push(["service", `${quotedIfOdd(service)}, and no other`]);
    rows.push(["issued", `${issued} (${seenFromNow(issued, now)})`]);
    rows.push(["expires", timeLeft(authority.expires, now)]);
  }
  if (location !== undefined) rows.push(["location", quoted(location)]);
  const size = format === "v2" ? `${bytes} bytes` : `${bytes} bytes as v2; this is ${format}`;
  rows.push(["size", size], ["revocation id", revocationId]);
  return rows;
}

function timeLeft(expires: string | undefined, now: number): string {
  if (expires === undefined) return "no hop says when";
  const when = seenFromNow(expires, now);
  const past = when.endsWith("ago");
  return `${when} (${expires})${past ? ": it has expired" : ""}`;
}

function quotedIfOdd(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) ? text : quoted(text);
}
