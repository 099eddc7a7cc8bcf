import { describe, expect, test } from "vitest";
import { encodeBase64url } from "../../src/bytes/base64.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  type Macaroon,
  macaroonsFromBytes,
  macaroonToBytes,
  readMacaroons,
  type VerifyFailure,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { concat, extendSignature, FIELD, field, packet, V1_HEAD, VID, v1, v2 } from "./raw.js";
import { contents, rejection, utf8 } from "./support.js";

const key = createRootKey(utf8("root key"));
const secret = utf8("shared");
const bare = createMacaroon(key, { identifier: "id" });
const check = (): boolean => true;

function needing(macaroon: Macaroon, ...names: readonly string[]): Macaroon {
  return names.reduce(
    (one, identifier) => addThirdPartyCaveat(one, { key: secret, identifier }),
    macaroon,
  );
}

function discharge(root: Macaroon, name: string, ...needs: readonly string[]): Macaroon {
  const own = createMacaroon(createRootKey(secret), { identifier: name });
  return bindDischarge(root, needing(own, ...needs));
}

describe("the message of a failed verification", () => {
  const failure = (
    root: Macaroon,
    ...discharges: readonly Macaroon[]
  ): VerifyFailure | undefined => {
    const result = verifyMacaroon(root, key, { discharges, check });
    return result.ok ? undefined : result.failures[0];
  };
  const first = addFirstPartyCaveat(bare, "a");
  const root = needing(first, "x");
  const twice = needing(first, "x", "x");
  const deep = needing(bare, "0");
  const line = Array.from({ length: 17 }, (_, at) => discharge(deep, `${at}`, `${at + 1}`));

  test.each<[string, () => VerifyFailure | undefined]>([
    [
      "the signature does not match this key",
      () => failure(createMacaroon(createRootKey(secret), { identifier: "i" })),
    ],
    ["no discharge was presented for caveat 2", () => failure(root)],
    [
      "two discharges have one identifier",
      () => failure(root, discharge(root, "x"), discharge(root, "x")),
    ],
    [
      "discharge 2 discharges no caveat",
      () => failure(root, discharge(root, "x"), discharge(root, "y")),
    ],
    [
      "discharge 1 has a wrong signature, or is not bound to this macaroon",
      () => failure(root, discharge(twice, "x")),
    ],
    [
      "discharge 1 needs itself, directly or through others",
      () => failure(root, discharge(root, "x", "x")),
    ],
    ["discharge 1 is needed by more than one caveat", () => failure(twice, discharge(twice, "x"))],
    ["discharges are nested more than 16 deep", () => failure(deep, ...line)],
  ])("is: %s", (message, run) => {
    expect(run()?.message).toBe(message);
  });

  test("says that the key of caveat 1 cannot be unsealed", () => {
    // A holder has appended a caveat with a made-up verification id; the signature is valid.
    const signature = extendSignature(bare.signature, VID, "x");
    const caveat = [field(FIELD.identifier, "x"), field(FIELD.vid, VID)];
    const bytes = v2([field(FIELD.identifier, "id")], [caveat], field(FIELD.signature, signature));
    const [made] = macaroonsFromBytes(bytes).macaroons;
    expect(failure(made, discharge(made, "x"))?.message).toBe(
      "the key of caveat 1 cannot be unsealed",
    );
  });

  test("has no caveat number if the failure is not about a caveat", () => {
    expect(Object.keys(failure(root, discharge(twice, "x")) ?? {}).sort()).toEqual([
      "code",
      "macaroon",
      "message",
    ]);
  });
});

test("verifyMacaroon without options throws a TypeError", () => {
  const verify = (): unknown => verifyMacaroon(bare, key, undefined as never);
  expect(verify).toThrow(TypeError);
  expect(verify).toThrow("options must be a plain object with");
});

test.each(["v1", "v2"] as const)(
  "a macaroon read from %s bytes does not change when the bytes change",
  (form) => {
    const macaroon = needing(addFirstPartyCaveat(bare, "a"), "x");
    const bytes = macaroonToBytes(macaroon, form);
    const [read] = macaroonsFromBytes(bytes).macaroons;
    bytes.fill(0xff);
    expect(contents(read)).toEqual(contents(macaroon));
  },
);

describe("limits on reading macaroons", () => {
  test("apply to bytes as well as to strings", () => {
    const bytes = macaroonToBytes(bare, "v2");
    expect(rejection(() => macaroonsFromBytes(bytes, { bytes: bytes.length - 1 })).code).toBe(
      "too_large",
    );
    expect(macaroonsFromBytes(bytes, { bytes: bytes.length }).macaroons).toHaveLength(1);
  });

  test("are refused if their names are unknown", () => {
    expect(() => readMacaroons("", { caveat: 1 } as object)).toThrow(
      'unknown limit "caveat"; there are bytes, caveats, identifierBytes, caveatBytes, discharges, nesting',
    );
  });
});

test("a v1 packet length with a character other than a digit or a to f is refused as packet_header", () => {
  // Characters that are not hexadecimal digits, although subtracting the code of "0" or "a" gives 0 to 15 or a
  // valid length.
  for (const header of ["00Wf", "00`f", "000_", "03/f", "0/0f"]) {
    const bytes = concat(header, "location l\n", "x".repeat(200));
    expect(
      rejection(() => macaroonsFromBytes(bytes)),
      header,
    ).toEqual({ code: "packet_header", offset: 0 });
  }
});

describe("writing and reading macaroons", () => {
  test("uses strings in JSON for bytes that are UTF-8, and base64 for other bytes", () => {
    const text = writeMacaroons([addFirstPartyCaveat(bare, Uint8Array.of(255))], "v2json");
    expect(text).toMatch(/^\{"v":2,"i":"id","c":\[\{"i64":"_w"\}\],"s64":"[\w-]{43}"\}$/);
  });

  test("uses a JSON object for one macaroon, and an array for two", () => {
    for (const format of ["v1json", "v2json"] as const) {
      expect(writeMacaroons([bare], format)).toMatch(/^\{.*\}$/);
      expect(writeMacaroons([bare, bare], format)).toMatch(/^\[\{.*\},\{.*\}\]$/);
    }
  });

  test("reports an unknown first byte as format_unknown, even if the base64 has bits left over", () => {
    expect(rejection(() => readMacaroons(`${encodeBase64url(Uint8Array.of(3))}AAB`)).code).toBe(
      "format_unknown",
    );
    expect(rejection(() => readMacaroons("AgIBYQAB")).code).toBe("truncated");
  });

  test("throws an error that says which v1 location is not UTF-8", () => {
    const bad = concat(
      packet("location", Uint8Array.of(255)),
      packet("identifier", "i"),
      v1().slice(V1_HEAD.length),
    );
    expect(() => macaroonsFromBytes(bad)).toThrow("the location is not UTF-8 (at 0)");
    const vid = new Uint8Array(72);
    const cl = v1(packet("cid", "c"), packet("vid", vid), packet("cl", Uint8Array.of(255)));
    expect(() => macaroonsFromBytes(cl)).toThrow("a caveat's location is not UTF-8");
  });

  test("throws an error about an unknown property, or a caveat that is not an object, in v1 JSON", () => {
    const signature = "0".repeat(64);
    const read = (value: object): unknown => readMacaroons(JSON.stringify(value));
    expect(() => read({ identifier: "i", signature, x: 1 })).toThrow(
      'the macaroon has an unknown property "x"',
    );
    expect(() => read({ identifier: "i", signature, caveats: [1] })).toThrow(
      "a caveat is not a JSON object",
    );
  });
});
