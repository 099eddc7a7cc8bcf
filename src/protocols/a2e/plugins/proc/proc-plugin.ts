import { compileArgumentChecks } from "../../../../agent/arguments.js";
import type { Json } from "../../../../bytes/json.js";
import { shown } from "../../../../caveats/scalar.js";
import { assertMembers, meant } from "../../../../checks/members.js";
import { type PluginCall, PluginError, type SessionPlugin } from "../../plugin.js";
import { assertArguments, optionalWhole, textArgument } from "../arguments.js";
import {
  limitOf,
  ORDER_MEMBERS,
  objectSchema,
  orderOf,
  type PluginOrder,
} from "../plugin-options.js";
import { procSdk } from "./proc-sdk.js";
import { Processes } from "./processes.js";
import { argumentsFor, type ProcProgram, readyProgram } from "./program.js";

export interface ProcPluginOptions extends PluginOrder {
  /** The programs that peers may start, by name; at least one. */
  readonly programs: { readonly [name: string]: ProcProgram };
  readonly limits?: ProcLimits | undefined;
}

/** Limits on processes. */
export interface ProcLimits {
  /** Maximum number of running processes of one session; 4 unless given. */
  readonly perSession?: number | undefined;
  /** Maximum number of running processes of one principal in all its sessions; 8 unless given. */
  readonly perPrincipal?: number | undefined;
  /** Maximum number of running processes in total; 32 unless given. */
  readonly total?: number | undefined;
  /** Number of bytes of a process's latest output that are kept; 64 KiB unless given. */
  readonly outputBytes?: number | undefined;
  /** Seconds after which a process is stopped; 3,600 (an hour) unless given. */
  readonly lifetime?: number | undefined;
  /** Milliseconds between SIGTERM and SIGKILL; 2,000 unless given. */
  readonly grace?: number | undefined;
}

const LIMITS = ["perSession", "perPrincipal", "total", "outputBytes", "lifetime", "grace"];
const PART = 16 * 1024;
const MAX_PART = 64 * 1024;
/** Length of the longest UTF-8 character, in bytes. A smaller part might contain no whole character. */
const MIN_PART = 4;
const MAX_WAIT = 20_000;
/** Longest lifetime in seconds that `setTimeout` supports. */
const MAX_LIFETIME = 2_147_483;

/**
 * Creates a plugin for the capability `proc`: it starts programs from a list, and a program may run longer than one
 * call. A peer chooses a program and sets its parameters within their schemas; no shell is involved. Only the principal
 * that started a process can use the process, and only in the same session. The host stops a process when the session
 * or its capability ends, after the process's lifetime, or when the host closes: the whole process group gets SIGTERM,
 * then SIGKILL.
 *
 * - `proc/start`, with the program as the message's `name` and the program's parameters as arguments, answers with the
 *   state of the process: `{process, program, started, state, written}`. `written` is the number of bytes of output so
 *   far.
 * - `proc/read {process, offset?, limit?, wait?}` answers with the state and `{text, offset, next, lost}`: the output
 *   from `offset` (0 unless given), at most `limit` bytes (16 KiB unless given, at most 64 KiB). If there is no output
 *   after `offset` yet, it waits up to `wait` milliseconds (at most 20,000). `next` is the offset at which to continue.
 *   `lost` is the number of requested bytes that newer output has overwritten.
 * - `proc/stop {process}` answers with the state and how the process ended: `{exitCode, signal, reason}`.
 * - `proc/list` answers `{programs: [{name, description, input}], processes: […]}`: the programs that the session's
 *   tokens allow the peer to start, and the processes that they allow it to read.
 *
 * Peers with A2E's SDK send `proc/spawn`, `proc/status` and `proc/kill`. The plugin answers them by calling these
 * operations. A command line in `proc/spawn` is a program's name, followed by the program's arguments. Arguments that
 * contain no parameter may be left out.
 *
 * If a message other than `proc/start` has a `name`, the message concerns only processes of that program. A token for
 * one program therefore gives no access to processes of other programs.
 *
 * @throws TypeError naming the option that is wrong, such as `programs.ticker.command`.
 * @throws Error if `ajv` is not installed.
 */
export async function createProcPlugin(options: ProcPluginOptions): Promise<SessionPlugin> {
  assertMembers(options, ["programs", "limits", ...ORDER_MEMBERS], "options");
  const { programs: given, limits = {} } = options;
  if (typeof given !== "object" || given === null || Object.keys(given).length === 0) {
    throw new TypeError("programs: there must be at least one");
  }
  const ready = Object.entries(given).map(([name, program]) => readyProgram(name, program));
  const programs = new Map(ready.map((program) => [program.name, program]));
  const checks = await compileArgumentChecks(
    ready.map(({ name, input }) => ({ id: name, input })),
    "programs",
  );
  const offered = ready.map(({ name, description, input }) => ({ name, description, input }));
  const processes = openProcesses(limits);
  const isOffered = (name: string | undefined): boolean => name === undefined || programs.has(name);
  return {
    ...orderOf("proc", options),
    sdk: procSdk(programs, processes),
    operations: {
      "proc/start": {
        handles: (name) => name !== undefined && programs.has(name),
        async run({ name = "", arguments: parameters, session, principal, signal }) {
          const program = programs.get(name);
          if (program === undefined) {
            const message = `there is no program ${shown(name)}${meant(name, [...programs.keys()])}`;
            throw new PluginError("name_unknown", message);
          }
          assertArguments(checks.get(name), parameters);
          signal.throwIfAborted();
          const args = argumentsFor(program, parameters);
          return (await processes.start(session, principal, program, args)).state();
        },
      },
      "proc/read": {
        handles: isOffered,
        input: objectSchema(
          {
            process: { type: "string" },
            offset: { type: "integer", minimum: 0 },
            limit: { type: "integer", minimum: MIN_PART, maximum: MAX_PART },
            wait: { type: "integer", minimum: 0, maximum: MAX_WAIT },
          },
          ["process"],
        ),
        run: (call) => read(processes, call),
      },
      "proc/stop": {
        handles: isOffered,
        input: objectSchema({ process: { type: "string" } }, ["process"]),
        async run(call) {
          const found = processes.find(call, textArgument(call.arguments, "process"));
          await found.stop("stopped");
          return found.state();
        },
      },
      "proc/list": {
        handles: isOffered,
        input: objectSchema({}),
        listing: true,
        run: async (call) => {
          const { mayCall, narrowed } = call;
          const isAsked = (name: string): boolean => call.name === undefined || name === call.name;
          const own = processes.list(call).filter(({ program }) => {
            return mayCall("proc/read", { name: program });
          });
          return {
            programs: offered
              .filter(({ name }) => isAsked(name) && mayCall("proc/start", { name }))
              .map((program) => ({
                ...program,
                input: narrowed("proc/start", program, program.input),
              })),
            processes: own.map((process) => process.state()),
          };
        },
      },
    },
    endSession: (session) => processes.endSession(session),
    close: () => processes.close(),
  };
}

function openProcesses(limits: ProcLimits): Processes {
  assertMembers(limits, LIMITS, "limits");
  const lifetime = limitOf(limits.lifetime, 60 * 60, "limits.lifetime");
  if (lifetime > MAX_LIFETIME)
    throw new TypeError(`limits.lifetime: must be ${MAX_LIFETIME} at most`);
  return new Processes(
    {
      perSession: limitOf(limits.perSession, 4, "limits.perSession"),
      perPrincipal: limitOf(limits.perPrincipal, 8, "limits.perPrincipal"),
      total: limitOf(limits.total, 32, "limits.total"),
    },
    {
      outputBytes: limitOf(limits.outputBytes, MAX_PART, "limits.outputBytes"),
      lifetime: lifetime * 1000,
      grace: limitOf(limits.grace, 2000, "limits.grace"),
    },
  );
}

async function read(processes: Processes, call: PluginCall): Promise<Json> {
  const { arguments: given, signal } = call;
  const process = processes.find(call, textArgument(given, "process"));
  const offset = optionalWhole(given, "offset", [0, Number.MAX_SAFE_INTEGER]) ?? 0;
  const limit = optionalWhole(given, "limit", [MIN_PART, MAX_PART]) ?? PART;
  const wait = optionalWhole(given, "wait", [0, MAX_WAIT]) ?? 0;
  await process.outputAfter(offset, wait, signal);
  signal.throwIfAborted();
  return { ...process.state(), ...process.output.read(offset, limit, process.isOver) };
}
