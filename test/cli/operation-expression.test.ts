import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readClosedLists } from "../../cli/closed-list-expression.js";
import { CliError, EXIT } from "../../cli/exit.js";
import { readLimits } from "../../cli/limit-expression.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";

describe("--arg as a limit on an operation's argument", () => {
  test.each<[text: string, operation: string, constraints: unknown]>([
    ["send_money:amount<=50", "send_money", { amount: { max: 50 } }],
    [" send_money : amount >= 5 ", "send_money", { amount: { min: 5 } }],
    ["send_money:to=acc:1", "send_money", { to: "acc:1" }],
    ["send_money:currency in USD,EUR", "send_money", { currency: { in: ["USD", "EUR"] } }],
    ["send_money:to not in a:1", "send_money", { to: { not_in: ["a:1"] } }],
    ["read_file:path under /data", "read_file", { path: { path: "/data" } }],
    ["read_file:path under 2026", "read_file", { path: { path: "2026" } }],
    ["read_file:under under reports", "read_file", { under: { path: "reports" } }],
    ["send_money:bcc absent", "send_money", { bcc: { absent: true } }],
    ["list:?limit<=100", "list", { limit: { max: 100, optional: true } }],
    ["list:? sort=asc", "list", { sort: { in: ["asc"], optional: true } }],
    ["pay:/to/iban=DE02", "pay", { "/to/iban": "DE02" }],
    ['pay:"/to/a b"=x', "pay", { "/to/a b": "x" }],
    ["mail:subject begins  with Re: a", "mail", { subject: { prefix: "Re: a" } }],
    ["mail:to each in a,b", "mail", { to: { each: { in: ["a", "b"] } } }],
    ["mail:to each=a", "mail", { to: { each: { in: ["a"] } } }],
    ["mail:?to each <= 5", "mail", { to: { each: { max: 5 }, optional: true } }],
    ["copy:from each under /data", "copy", { from: { each: { path: "/data" } } }],
    ["grid:rows each items=3", "grid", { rows: { each: { items: { min: 3, max: 3 } } } }],
    ["mail:to items<=3", "mail", { to: { items: { max: 3 } } }],
    ["mail:items>=3", "mail", { items: { min: 3 } }],
    ["*:path under /data", "*", { path: { path: "/data" } }],
    ["*:amount<=5", "*", { amount: { max: 5 } }],
    ['"calendar:read":limit<=5', "calendar:read", { limit: { max: 5 } }],
    ['calendar:"a:b"<=5', "calendar", { "a:b": { max: 5 } }],
    ['"a<=b":c<=5', "a<=b", { c: { max: 5 } }],
    ['pay:amount={"min":1,"optional":true}', "pay", { amount: { min: 1, optional: true } }],
    [
      "fetch:url at https://*.example.com/docs",
      "fetch",
      { url: { url: { schemes: ["https"], hosts: [".example.com"], path: "/docs" } } },
    ],
    [
      "fetch:url at https://a.example:8443,https://b.example:8443/",
      "fetch",
      { url: { url: { schemes: ["https"], hosts: ["a.example", "b.example"], ports: ["8443"] } } },
    ],
    [
      "fetch:url at https://a.example,https://a.example:8443",
      "fetch",
      { url: { url: { schemes: ["https"], hosts: ["a.example"], ports: ["443", "8443"] } } },
    ],
    [
      "fetch:url at http://[::1]:8080,ws://[::1]:8080",
      "fetch",
      { url: { url: { schemes: ["http", "ws"], hosts: ["[::1]"], ports: ["8080"] } } },
    ],
    [
      "fetch:urls each at https://a.example/v1",
      "fetch",
      { urls: { each: { url: { schemes: ["https"], hosts: ["a.example"], path: "/v1" } } } },
    ],
  ])("is read as the expected constraint: %s", (text, operation, constraints) => {
    const limits = readLimits([text]);
    expect(limits).toStrictEqual({ operationConstraints: { [operation]: constraints } });
    // The library accepts the limits that were parsed.
    expect(normalizeHop(limits)).toHaveProperty("operationConstraints");
  });

  test("several limits combine by operation and argument, and a limit without an operation stays separate", () => {
    const texts = ["a<=9", "p:a>=1", "q:to items<=3", "p:a<=5", "q:to items>=1", "q:to each in x"];
    expect(readLimits(texts)).toEqual({
      constraints: { a: { max: 9 } },
      operationConstraints: {
        p: { a: { min: 1, max: 5 } },
        q: { to: { items: { min: 1, max: 3 }, each: { in: ["x"] } } },
      },
    });
  });

  test.each<[string, unknown]>([
    ["to=acc:1", { to: "acc:1" }],
    ["at=12:30", { at: "12:30" }],
    ["url=https://a.example", { url: "https://a.example" }],
    ["to in acc:1,acc:2", { to: { in: ["acc:1", "acc:2"] } }],
    ['"a:b"<=5', { "a:b": { max: 5 } }],
    ['"x under y"=z', { "x under y": "z" }],
    ['"/to/iban"=z', { "/to/iban": "z" }],
  ])(
    "a colon after the operator, or in quotes, does not separate an operation: %s",
    (text, constraints) => {
      expect(readLimits([text])).toEqual({ constraints });
    },
  );

  test.each<[texts: readonly string[], problem: RegExp, hint: RegExp]>([
    [["calendar:read:limit<=5"], /which colon/, /'"calendar:read":limit<=5'/],
    [[":a<=5"], /operation's name is missing/, /\*/],
    [["read_*:a<=5"], /no patterns of operations/, /'"read_\*"'/],
    [["path under /data"], /needs an operation/, /'\*:path under \/data'/],
    [["bcc absent"], /needs an operation/, /'\*:bcc absent'/],
    [["?limit<=5"], /needs an operation/, /'\*:\?limit<=5'/],
    [["/to/iban=x"], /needs an operation/, /'\*:\/to\/iban=x'/],
    [["path=/data/*"], /no patterns/, /'\*:path under \/data'; .*'path="\/data\/\*"'/],
    [["r:path=/data/*"], /no patterns/, /'r:path under \/data'; .*'r:path="\/data\/\*"'/],
    [["r:?path=/data/**"], /no patterns/, /'r:\?path under \/data'/],
    [["r:name=foo*"], /no patterns/, /'r:name begins with foo'/],
    [["r:url=https://a.example/*"], /no patterns/, /'r:url at https:\/\/a\.example'/],
    [["r:path under /data/*"], /no patterns/, /'r:path under \/data'/],
    [["r:name in a*,b"], /no patterns/, /'r:name in "a\*",b'/],
    [["r:amount=<5"], /there is no =</, /use <=/],
    [["r:amount=>5"], /there is no =>/, /use >=/],
    [["r:path~=x"], /there is no ~=/, /'r:"path~"=x'/],
    [["r:path=~x"], /there is no =~/, /'r:path="~x"'/],
    [["r:a!=5"], /there is no !=/, /r:a not in 5/],
    [["r:a==5"], /there is no ==/, /use one =/],
    [["r:a<5"], /there is no </, /<=/],
    [["r:=5"], /there is no :=/, /'"r:"=5'/],
    [["r:a=[1]"], /limited to one value/, /'r:a each in a,b'/],
    [["r:a each"], /missing behind each/, /each in a,b/],
    [["r:a each absent"], /missing behind each/, /each in a,b/],
    [["r:a items<=x"], /not a number of elements/, /items<=3/],
    [["r:?a absent"], /needs no \?/, /'r:a absent'/],
    [["r:a absent", "r:a<=5"], /absent, and has another limit/, /^$/],
    [["r:?a<=5", "r:a>=1"], /with \? and without/, /each of them/],
    [["r:a<=5", "r:a<=6"], /"max" twice/, /keep/],
    [["r:u at https://a.example", "r:u at https://b.example"], /twice/, /keep/],
    [["r:u at a.example"], /not a URL/, /https:\/\/\*\.example\.com/],
    [["r:u at ftp://a.example"], /no limit on ftp/, /http, https/],
    [["r:u at https://*"], /not a host/, /labels/],
    [["r:u at https://a.example/*"], /not a folder/, /leave out the \*/],
    [["r:u at https://a.example/?q=1"], /no query/, /write 'r:u at https:\/\/a\.example'/],
    [["r:u at https://a.example/x,https://b.example/y"], /one path/, /folder/],
    [
      ["r:u at https://a.example,http://b.example"],
      /would allow https:\/\/b\.example:443 too/,
      /every combination/,
    ],
  ])("a wrong limit is refused: %j", (texts, problem, hint) => {
    const error = errorOf(() => readLimits(texts));
    expect(error.message).toMatch(problem);
    expect(error.hint ?? "").toMatch(hint);
    expect(error).toMatchObject({ code: "usage", exitCode: EXIT.usage });
  });

  test("a string of operators and punctuation is read, or refused with a CliError", () => {
    const unit = fc.constantFrom(
      ...["a", "*", ":", "?", "/", '"', "<=", "=", " in ", " under ", " at ", " each ", " items"],
      ...[" absent", " begins with ", "https://", ",", "5", "~", "[", "{", "}"],
    );
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        try {
          readLimits([text]);
          readClosedLists([text]);
        } catch (error) {
          expect(error).toBeInstanceOf(CliError);
        }
      }),
    );
  });
});

describe("--only-args", () => {
  test.each<[readonly string[], unknown]>([
    [["a,b"], { "*": ["a", "b"] }],
    [["read_file:path"], { read_file: ["path"] }],
    [["read_file: path, mode"], { read_file: ["path", "mode"] }],
    [["ping:"], { ping: [] }],
    [["*:"], { "*": [] }],
    [['"a:b":c,"d,e"'], { "a:b": ["c", "d,e"] }],
    [["pay:to", "pay:amount,to", "b"], { pay: ["to", "amount"], "*": ["b"] }],
  ])("reads %j", (texts, lists) => {
    expect(readClosedLists(texts)).toEqual(lists);
  });

  test.each<[string, RegExp]>([
    ["", /a name is missing/],
    ["a,,b", /a name is missing/],
    [":a", /operation's name is missing/],
    ["pay:a*", /"a\*" is not the name/],
    ["pay:a<=5", /"a<=5" is not the name/],
    ["pay:a:b", /not clear which colon/],
    ["read_*:a", /no patterns of operations/],
  ])("refuses %j", (text, problem) => {
    expect(errorOf(() => readClosedLists([text])).message).toMatch(problem);
  });
});

function errorOf(call: () => unknown): CliError {
  try {
    call();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("an expression in a form that a limit cannot have is refused, with the expression to write", () => {
  const problemOf = (read: () => unknown): string => {
    try {
      read();
    } catch (error) {
      if (error instanceof CliError) return `${error.message}\n${error.hint}`;
      throw error;
    }
    return "accepted";
  };

  test.each<[text: string, problem: string, hint: string]>([
    ["read:path under /data/", '"/data/" is not a folder', "write 'read:path under /data'"],
    ["read:?path under /data//a", "is not a folder", "write 'read:?path under /data/a'"],
    ["*:path under ./a/./b", "is not a folder", "write '*:path under a/b'"],
    ["copy:from each under /data/", "is not a folder", "write 'copy:from each under /data'"],
    ['read:path under "/a,b/"', "is not a folder", `write 'read:path under "/a,b"'`],
    [
      "read:path under /data/../etc",
      "is not a folder",
      "write a folder like /data or reports/2026",
    ],
    ["read:path under ~/notes", "is not a folder", "write a folder like /data or reports/2026"],
    [
      "read:path under /data,/srv",
      "a limit has one folder",
      `make a token for each folder; for this very text, write 'read:path under "/data,/srv"'`,
    ],
    [
      "mail:subject begins with Re,Fwd",
      "a limit has one beginning",
      `make a token for each beginning; for this very text, write 'mail:subject begins with "Re,Fwd"'`,
    ],
    [
      "fetch:url at https://Example.com/",
      '"Example.com" is not a host',
      "write 'fetch:url at https://example.com'",
    ],
    ["fetch:url at https://x/y/", "is not a folder", "write 'fetch:url at https://x/y'"],
    [
      "fetch:url at HTTPS://*.X.example",
      "is not a URL",
      "write 'fetch:url at https://*.x.example'",
    ],
    ["fetch:url at https://x:0443/y", '"0443" is not a port', "write 'fetch:url at https://x/y'"],
    ["fetch:url at https://x?a=1", "no query", "write 'fetch:url at https://x'"],
    [
      "fetch:urls each at https://a.example,https://B.example",
      '"B.example" is not a host',
      "write 'fetch:urls each at https://a.example,https://b.example'",
    ],
    ["fetch:url at https://a_b", '"a_b" is not a host', "write it like https://api.example.com/v1"],
    ["pay:/to=1", '"/to" is not the name of', "write 'pay:to=1'"],
    ["pay:?/to<=1", '"/to" is not the name of', "write 'pay:?to<=1'"],
    ['pay:"/to" in a,b', '"/to" is not the name of', "write 'pay:to in a,b'"],
    ["/to=1", '"/to" is not the name of', "write 'to=1'"],
    ["pay:/to/~2=1", '"/to/~2" is not a JSON Pointer', "write it like pay:/to/iban=DE02"],
    ["read:path in a*,b", "there are no patterns", `write 'read:path in "a*",b'`],
    ["read:path not in a,b*,c*", "there are no patterns", `write 'read:path not in a,"b*","c*"'`],
  ])("%s", (text, problem, hint) => {
    const said = problemOf(() => readLimits([text]));
    expect(said).toContain(problem);
    expect(said).toContain(hint);
    const [, corrected] = /write '([^']+)'$/.exec(said) ?? [];
    if (corrected !== undefined) normalizeHop(readLimits([corrected]));
  });

  test.each<[text: string, problem: string, hint: string, lists?: object]>([
    [
      "resources:read:path",
      "it is not clear which colon ends the operation",
      `put the operation in double quotes: '"resources:read":path'`,
      { "resources:read": ["path"] },
    ],
    [
      "a:b:c,d",
      "it is not clear which colon ends the operation",
      `put the operation in double quotes: '"a:b":c,d'`,
      { "a:b": ["c", "d"] },
    ],
    [
      "read:path,a=b",
      '"a=b" is not the name of an argument',
      `for an argument of this very name, write 'read:path,"a=b"'`,
      { read: ["path", "a=b"] },
    ],
  ])("--only-args %s", (text, problem, hint, lists) => {
    const said = problemOf(() => readClosedLists([text]));
    expect(said).toContain(problem);
    expect(said).toContain(hint);
    const [, corrected = ""] = /'([^']+)'$/.exec(said) ?? [];
    expect(readClosedLists([corrected])).toEqual(lists);
  });
});
