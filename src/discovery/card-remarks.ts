import { type JsonObject, quotedName } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { objectIn, textIn, textsIn } from "../client/received.js";
import type { CardReading } from "./card.js";
import { extensionRemarks } from "./extension-remarks.js";
import { pointer, shownPath } from "./faults.js";
import type { Remark } from "./finding.js";
import { hasCapability } from "./judge.js";
import { listIn } from "./places.js";
import {
  CAPABILITY_REGISTRY,
  isVendorCapability,
  registeredCapability,
  tierAt,
} from "./registry.js";
import { DISCOVERY_URI } from "./uris.js";

const MEDIA_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126})(?:\s*;.*)?$/i;

/** What the schema cannot say: the contract's own faults, and names that stand for nothing. */
export function cardRemarks(card: CardReading, suggest: Suggest): readonly Remark[] {
  const faults = card.faults.map(
    ({ path = "", message }): Remark => ({ severity: "error", code: "contract", path, message }),
  );
  return [
    ...faults,
    ...capabilityRemarks(card, suggest),
    ...interfaceRemarks(card),
    ...grantRemarks(card, suggest),
    ...skillRemarks(card.document),
    ...securityRemarks(card.document, suggest),
    ...mediaRemarks(card.document),
    ...extensionRemarks(card, suggest),
  ];
}

function capabilityRemarks(card: CardReading, suggest: Suggest): readonly Remark[] {
  const known = CAPABILITY_REGISTRY.capabilities.map(({ name }) => name);
  const path = "/capabilities";
  const remarks: Remark[] = [];
  if (!card.extensions.includes(DISCOVERY_URI)) {
    const message = `the card does not say which capabilities it has; ${DISCOVERY_URI} is the extension for that`;
    remarks.push({ severity: "warning", code: "contract_absent", path, message });
  }
  for (const [name, has] of card.capabilities) {
    const entry = registeredCapability(name);
    if (entry === undefined && !isVendorCapability(name)) {
      const near = suggest(name, known);
      const hint =
        near === undefined ? "a vendor's is a URI or has a dot" : `did you mean "${near}"?`;
      const message = `no capability is called ${quotedName(name)}; ${hint}`;
      remarks.push({ severity: "error", code: "capability_unknown", path, message });
    }
    if (!has || entry === undefined) continue;
    if (tierAt(entry, { major: 1, minor: 0 }) === "deprecated") {
      const instead = entry.supersededBy === undefined ? "" : `; use ${entry.supersededBy}`;
      const message = `${name} is deprecated${instead}`;
      remarks.push({ severity: "warning", code: "capability_deprecated", path, message });
    }
    if (entry.needs !== undefined && !hasCapability(card, name) && card.faults.length === 0) {
      const message = `${name} is declared, and capabilities.${entry.needs} is not true`;
      remarks.push({ severity: "error", code: "capability_incomplete", path, message });
    }
  }
  return remarks;
}

function interfaceRemarks({ interfaces }: CardReading): readonly Remark[] {
  const seen = new Set<string>();
  return interfaces.flatMap(({ url, binding, path }) => {
    const remarks: Remark[] = [];
    const key = `${binding} ${url}`;
    if (seen.has(key)) {
      const message = `${shownPath(path)}: the same binding and URL as another interface`;
      remarks.push({ severity: "error", code: "reference", path, message });
    }
    seen.add(key);
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
              severity: "error",
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

function securityRemarks(card: JsonObject, suggest: Suggest): readonly Remark[] {
  const known = Object.keys(objectIn(card["securitySchemes"]));
  const names = new Set(known);
  const holders: readonly (readonly [string, unknown])[] = [
    ["/securityRequirements", card["securityRequirements"]],
    ...listIn(card["skills"]).map(
      (skill, at) =>
        [pointer("/skills", at, "securityRequirements"), skill["securityRequirements"]] as const,
    ),
  ];
  return holders.flatMap(([base, requirements]) =>
    listIn(requirements).flatMap((one, at) =>
      Object.keys(objectIn(one["schemes"]))
        .filter((name) => !names.has(name))
        .map((name) =>
          unknownName(
            pointer(base, at, "schemes", name),
            "security scheme",
            name,
            suggest(name, known),
          ),
        ),
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
    ...["defaultInputModes", "defaultOutputModes"].map((name) => [`/${name}`, card[name]] as const),
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
      return [{ severity: "error", code: "media_type", path, message }];
    }),
  );
}
