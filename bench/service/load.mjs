// Calls a server over loopback from a separate process, over plain sockets, so that the load takes no processor time
// from a server. A message requests one stretch of calls, either as fast as answers arrive or at a fixed rate.
import { connect } from "node:net";

/** @typedef {{ url: string, token: string, connections: number, milliseconds: number, rate?: number, prefix: string }} Stretch */

/** @param {Stretch} stretch */
async function run({ url, token, connections, milliseconds, rate, prefix }) {
  const { port, host, pathname } = new URL(url);
  const capability = token === "" ? "" : `Proviso-Capability: ${token}\r\n`;
  const extension = token === "" ? "" : "A2A-Extensions: urn:proviso:a2a:capabilities:1\r\n";
  const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nAuthorization: Bearer development-token-of-alice\r\n${extension}${capability}`;
  let sent = 0;
  const next = () => {
    sent += 1;
    const messageId = `${prefix}-${String(sent).padStart(9, "0")}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"${messageId}","role":"ROLE_USER","parts":[{"data":{"skill":"tell","arguments":{}}}]}}}`;
    return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  /** @type {number[]} */
  const latencies = [];
  const began = performance.now();
  const until = began + milliseconds;
  /** Due times of calls that wait for a connection. @type {number[]} */
  const due = [];
  /** @type {(() => void)[]} */
  const idle = [];
  let scheduled = 0;
  let over = false;
  const timer =
    rate === undefined
      ? undefined
      : setInterval(() => {
          const now = Math.min(performance.now(), until);
          for (; began + (scheduled * 1000) / rate <= now; scheduled++) {
            due.push(began + (scheduled * 1000) / rate);
          }
          if (now >= until) over = true;
          while (idle.length > 0 && (due.length > 0 || over)) idle.pop()?.();
        }, 1);
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: Number(port), host: "127.0.0.1", noDelay: true });
      let dueAt = 0;
      let text = "";
      const go = () => {
        const now = performance.now();
        if (rate === undefined ? now >= until : due.length === 0 && over) {
          socket.end();
          return resolve(undefined);
        }
        const at = rate === undefined ? now : due.shift();
        if (at === undefined) return idle.push(go);
        dueAt = at;
        socket.write(next());
      };
      socket.setEncoding("latin1");
      socket.on("connect", go);
      socket.on("error", reject);
      socket.on("data", (chunk) => {
        text += chunk;
        const end = text.indexOf("\r\n\r\n");
        if (end < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        if (text.length < end + 4 + length) return;
        if (!text.startsWith("HTTP/1.1 200") || !text.includes('"year":2026')) {
          return reject(new Error(text));
        }
        latencies.push(performance.now() - dueAt);
        text = "";
        go();
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  clearInterval(timer);
  const seconds = (performance.now() - began) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    calls: latencies.length,
    seconds,
    perSecond: latencies.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
  };
}

process.on("message", (stretch) => {
  run(/** @type {Stretch} */ (stretch)).then(
    (figures) => process.send?.(figures),
    (error) => process.send?.({ error: String(error?.stack ?? error) }),
  );
});
process.send?.("ready");
