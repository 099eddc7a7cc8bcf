import { decodeBase64 } from "../bytes/base64.js";
import { isJsonObject, type Json, type JsonObject, quotedName } from "../bytes/json.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import type { Suggest } from "../checks/nearest.js";
import { objectIn, textIn } from "../client/received.js";
import { CAPABILITIES_URI, type CardReading, DISCOVERY_URI } from "./card.js";
import type { CardVersion } from "./card-version.js";
import { pointer, shown, shownPath } from "./faults.js";
import { listIn } from "./fields.js";
import type { Remark } from "./finding.js";
import { BINDINGS } from "./requirements.js";

/** The types of the capability extension's params (docs/a2a.md, section 2). */
const MEMBERS: readonly (readonly [name: string, is: (value: Json) => boolean, form: string])[] = [
  ["mode", isOneOf("advertise", "prefer", "require"), '"advertise", "prefer" or "require"'],
  ["undeclaredAmbient", isOneOf("accepted", "refused"), '"accepted" or "refused"'],
  ["ambientAuthority", isOneOf("accepted", "refused"), '"accepted" or "refused"'],
  ["capabilitiesRequired", (value) => typeof value === "boolean", "true or false"],
  ["tokenFormat", isOneOf("proviso/1"), '"proviso/1"'],
  ["maxLifetimeSeconds", isSeconds, "a whole number of at least 1"],
];

/** Returns remarks on extensions, bindings and signatures that no reader can use. */
export function extensionRemarks(
  card: CardReading,
  version: CardVersion,
  suggest: Suggest,
): readonly Remark[] {
  const { document } = card;
  const extensions = listIn(objectIn(document["capabilities"])["extensions"]);
  const own = extensions.findIndex(({ uri }) => uri === CAPABILITIES_URI);
  const path = pointer("/capabilities/extensions", own, "params");
  const params = objectIn(extensions[own]?.["params"]);
  return [
    ...extensions.flatMap((one, at) => addressRemarks(one, at, suggest)),
    ...memberRemarks(params, path),
    ...skillRemarks(card, objectIn(params["skills"]), pointer(path, "skills"), suggest),
    ...attenuableRemarks(params, path),
    ...card.interfaces.flatMap((one) => bindingRemarks(one, version)),
    ...signatureRemarks(document),
  ];
}

function addressRemarks(one: JsonObject, at: number, suggest: Suggest): readonly Remark[] {
  const uri = textIn(one["uri"]) ?? "";
  const known = [DISCOVERY_URI, CAPABILITIES_URI];
  const near = known.includes(uri) ? undefined : suggest(uri, known);
  if (near === undefined) return [];
  const path = pointer("/capabilities/extensions", at, "uri");
  return [
    remark("reference", path, `no extension is called ${quotedName(uri)}; did you mean "${near}"?`),
  ];
}

function memberRemarks(params: JsonObject, base: string): readonly Remark[] {
  return MEMBERS.flatMap(([name, is, form]): Remark[] => {
    const value = params[name];
    if (value === undefined || is(value)) return [];
    const path = pointer(base, name);
    return [remark("contract", path, `expected ${form}, not ${shown(value)}`)];
  });
}

/**
 * Checks each skill that the extension describes: the card must have the skill, and a grant must have the
 * skill's operation.
 */
function skillRemarks(
  { document, grants }: CardReading,
  skills: JsonObject,
  base: string,
  suggest: Suggest,
): readonly Remark[] {
  const ids = new Set(listIn(document["skills"]).map(({ id }) => textIn(id) ?? ""));
  const operations = new Set((grants ?? []).flatMap((grant) => grant.operations));
  const [allIds, allOperations] = [[...ids], [...operations]];
  return Object.entries(skills).flatMap(([id, skill]): Remark[] => {
    const path = pointer(base, id);
    const absent = ids.has(id)
      ? []
      : [
          remark(
            "reference",
            path,
            `the card has no skill ${quotedName(id)}${meant(id, allIds, suggest)}`,
          ),
        ];
    const operation = textIn(objectIn(skill)["operation"]);
    if (operation === undefined || operations.has(operation)) return absent;
    const hint = meant(operation, allOperations, suggest);
    // A grant of `*` includes this operation. But if a grant names a similar operation, this one is probably
    // misspelt.
    if (hint === "" && operations.has("*")) return absent;
    const what = `no grant has the operation ${quotedName(operation)}`;
    return [...absent, remark("reference", pointer(path, "operation"), `${what}${hint}`)];
  });
}

function meant(name: string, known: readonly string[], suggest: Suggest): string {
  const near = suggest(name, known);
  return near === undefined ? "" : `; did you mean ${quotedName(near)}?`;
}

function attenuableRemarks(params: JsonObject, base: string): readonly Remark[] {
  return listIn(params["capabilityGrants"]).flatMap((grant, at): Remark[] => {
    if (grant["attenuable"] !== undefined) return [];
    const path = pointer(base, "capabilityGrants", at);
    const message = 'the grant does not say whether it is "attenuable", so it is not';
    return [{ ...remark("contract", path, message), severity: "warning" }];
  });
}

function bindingRemarks(
  { binding, path, versionText }: CardReading["interfaces"][number],
  version: CardVersion,
): readonly Remark[] {
  const meantBinding = BINDINGS.find((one) => one === binding.toUpperCase());
  const remarks: Remark[] = [];
  if (meantBinding !== undefined && meantBinding !== binding) {
    const at = pointer(path, bindingMember(path));
    remarks.push(remark("reference", at, `${quotedName(binding)} is written "${meantBinding}"`));
  }
  const at = path.startsWith("/additionalInterfaces")
    ? "/protocolVersion"
    : pointer(path, "protocolVersion");
  if (/^\d+$/.test(versionText)) {
    const message = `A2A writes a version with its minor part: "${versionText}.0"`;
    remarks.push({ ...remark("contract", at, message), severity: "warning" });
  }
  if (version === "1.0" && /^\d+\.\d+\.\d+$/.test(versionText)) {
    const message = "A2A 1.0 leaves the patch part out (section 3.6)";
    remarks.push({ ...remark("contract", at, message), severity: "remark" });
  }
  return remarks;
}

/**
 * Returns the name of the property that has an interface's binding.
 * @param path - JSON Pointer to the interface.
 */
function bindingMember(path: string): string {
  if (path === "") return "preferredTransport";
  return path.startsWith("/additionalInterfaces") ? "transport" : "protocolBinding";
}

/**
 * Returns remarks on signatures. A signature can be verified only if its protected header is JSON (RFC 7515,
 * section 5.2).
 */
function signatureRemarks(document: JsonObject): readonly Remark[] {
  return listIn(document["signatures"]).flatMap((one, at): Remark[] => {
    const header = textIn(one["protected"]);
    if (header === undefined || hasAlgorithm(header)) return [];
    const path = pointer("/signatures", at, "protected");
    return [remark("contract", path, 'expected a JSON object with "alg", as base64url')];
  });
}

/** Longest protected header that is parsed, in characters. */
const MAX_HEADER = 16_384;

function hasAlgorithm(header: string): boolean {
  if (header.length > MAX_HEADER) return false;
  try {
    const value: Json = JSON.parse(decodeUtf8(decodeBase64(header)) ?? "");
    return isJsonObject(value) && typeof value["alg"] === "string";
  } catch {
    return false;
  }
}

function isOneOf(...values: readonly Json[]): (value: Json) => boolean {
  return (value) => values.includes(value);
}

function isSeconds(value: Json): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
}

function remark(code: "contract" | "reference", path: string, message: string): Remark {
  return { severity: "error", code, path, message: `${shownPath(path)}: ${message}` };
}
