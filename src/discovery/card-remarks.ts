import { type JsonObject, quotedName } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { objectIn, textIn, textsIn } from "../client/received.js";
import { type CardReading, DISCOVERY_URI } from "./card.js";
import type { CardVersion } from "./card-version.js";
import { extensionRemarks } from "./extension-remarks.js";
import { pointer, shownPath } from "./faults.js";
import { listIn } from "./fields.js";
import type { Remark } from "./finding.js";
import { hasCapability } from "./judge.js";
import { isVendorCapability, registeredCapability, tierAt } from "./registry.js";
import { rangeText } from "./versions.js";

const MEDIA_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126})(?:\s*;.*)?$/i;

/**
 * Returns the remarks that go beyond the schema, such as violations of the discovery contract and references to
 * names that the card lacks.
 */
export function cardRemarks(
  card: CardReading,
  version: CardVersion,
  suggest: Suggest,
): readonly Remark[] {
  const faults = card.faults.map(
    ({ path = "", message }): Remark => ({ severity: "error", code: "contract", path, message }),
  );
  return [
    ...faults,
    ...capabilityRemarks(card, version),
    ...interfaceRemarks(card),
    ...grantRemarks(card, suggest),
    ...skillRemarks(card.document),
    ...securityRemarks(card.document, suggest),
    ...(version === "0.1" ? [] : mediaRemarks(card.document)),
    ...extensionRemarks(card, version, suggest),
  ];
}

function capabilityRemarks(card: CardReading, version: CardVersion): readonly Remark[] {
  const path = "/capabilities";
  const remarks: Remark[] = [];
  if (!declaresContract(card)) {
    const message = `the card declares no capability beside A2A's own; ${DISCOVERY_URI} is the extension for that`;
    remarks.push({ severity: "remark", code: "contract_absent", path, message });
  }
  const [major = 1, minor = 0] = version.split(".").map(Number);
  for (const [name, has] of card.capabilities) {
    const entry = registeredCapability(name);
    if (!has || entry === undefined) continue;
    if (tierAt(entry, { major, minor }) === "deprecated") {
      const instead = entry.supersededBy === undefined ? "" : `; use ${entry.supersededBy}`;
      const message = `${name} is deprecated${instead}`;
      remarks.push({ severity: "warning", code: "capability_deprecated", path, message });
    }
    if (entry.needs !== undefined && !hasCapability(card, name) && card.faults.length === 0) {
      const message = `${name} is declared, and no caller may rely on it: capabilities.${entry.needs} is not true`;
      remarks.push({ severity: "warning", code: "capability_incomplete", path, message });
    }
    if (entry.propagates === true && card.delegates === undefined) {
      const message =
        `${name} is declared, and callers that need it refuse the agent: the card does not say to whom it ` +
        'delegates; say it in "delegates" of the contract\'s params, [] if to no agent';
      remarks.push({ severity: "warning", code: "delegates_absent", path, message });
    }
  }
  return remarks;
}

/** Returns whether any part of a card uses the discovery contract. */
function declaresContract({ extensions, capabilities, range, delegates }: CardReading): boolean {
  const isContract = (name: string): boolean => {
    const entry = registeredCapability(name);
    if (entry === undefined) return isVendorCapability(name);
    return entry.isOwnFlag !== true && name !== "push_notifications";
  };
  const declared = [...capabilities.keys()].filter(isContract);
  const parts = [range.min, range.max, delegates].filter((one) => one !== undefined);
  return extensions.includes(DISCOVERY_URI) || declared.length + parts.length > 0;
}

function interfaceRemarks({ interfaces }: CardReading): readonly Remark[] {
  const seen = new Set<string>();
  return interfaces.flatMap(({ url, binding, tenant = "", speaks, path }) => {
    const remarks: Remark[] = [];
    const keys = speaks.map((range) => JSON.stringify([binding, url, tenant, rangeText(range)]));
    if (keys.length > 0 && keys.every((key) => seen.has(key))) {
      const message = `${shownPath(path)}: no caller uses it: an interface before it has its binding, URL and versions`;
      remarks.push({ severity: "warning", code: "reference", path, message });
    }
    for (const key of keys) seen.add(key);
    if (/^http:\/\//i.test(url) && !isLoopback(url)) {
      const at = pointer(path, "url");
      const message = `${shownPath(at)}: plain http; tokens would travel in clear`;
      remarks.push({ severity: "warning", code: "address_insecure", path: at, message });
    }
    return remarks;
  });
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  return /^(localhost|.*\.localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(new URL(url).hostname);
}

function grantRemarks({ grants = [] }: CardReading, suggest: Suggest): readonly Remark[] {
  const ids = grants.map(({ id }) => id);
  const known = new Set(ids);
  return grants.flatMap(({ requires, operations, path }): Remark[] => {
    const empty: Remark[] =
      operations.length > 0
        ? []
        : [
            {
              severity: "warning",
              code: "contract",
              path,
              message: `${shownPath(path)}: a grant without operations`,
            },
          ];
    const absent = requires.filter((one) => !known.has(one));
    return [
      ...empty,
      ...absent.map((one) => {
        const near = suggest(one, ids);
        return unknownName(pointer(path, "requires"), "grant", one, near);
      }),
    ];
  });
}

function skillRemarks(card: JsonObject): readonly Remark[] {
  const seen = new Set<string>();
  return listIn(card["skills"]).flatMap((skill, at): Remark[] => {
    const id = textIn(skill["id"]);
    if (id === undefined || !seen.has(id)) {
      seen.add(id ?? "");
      return [];
    }
    const path = pointer("/skills", at, "id");
    const message = `${shownPath(path)}: another skill has the id ${quotedName(id)}`;
    return [{ severity: "error", code: "reference", path, message }];
  });
}

/** Names of the property with the security requirements: first in A2A 1.0, then in earlier versions. */
const REQUIREMENTS = ["securityRequirements", "security"];

function securityRemarks(card: JsonObject, suggest: Suggest): readonly Remark[] {
  const known = Object.keys(objectIn(card["securitySchemes"]));
  const names = new Set(known);
  const holders = [
    { path: "", value: card },
    ...listIn(card["skills"]).map((value, at) => ({ path: pointer("/skills", at), value })),
  ];
  return holders.flatMap(({ path, value }) =>
    REQUIREMENTS.flatMap((member) =>
      listIn(value[member]).flatMap((one, at) => {
        const isNew = member === "securityRequirements";
        const named = isNew ? objectIn(one["schemes"]) : one;
        const base = pointer(path, member, at, ...(isNew ? ["schemes"] : []));
        return Object.keys(named)
          .filter((name) => !names.has(name))
          .map((name) =>
            unknownName(pointer(base, name), "security scheme", name, suggest(name, known)),
          );
      }),
    ),
  );
}

function unknownName(path: string, what: string, name: string, near: string | undefined): Remark {
  const hint = near === undefined ? "" : `; did you mean ${quotedName(near)}?`;
  const message = `${shownPath(path)}: the card has no ${what} ${quotedName(name)}${hint}`;
  return { severity: "error", code: "reference", path, message };
}

function mediaRemarks(card: JsonObject): readonly Remark[] {
  const lists = [
    ["/defaultInputModes", card["defaultInputModes"]] as const,
    ["/defaultOutputModes", card["defaultOutputModes"]] as const,
    ...listIn(card["skills"]).flatMap((skill, at) =>
      ["inputModes", "outputModes"].map(
        (name) => [pointer("/skills", at, name), skill[name]] as const,
      ),
    ),
  ];
  return lists.flatMap(([base, list]) =>
    textsIn(list).flatMap((type, at): Remark[] => {
      if (type.length < 300 && MEDIA_TYPE.test(type)) return [];
      const path = pointer(base, at);
      const message = `${shownPath(path)}: ${quotedName(type)} is not a media type`;
      return [{ severity: "warning", code: "media_type", path, message }];
    }),
  );
}
