import type { Figures } from "../measure.mjs";

/** The properties that are used from the file that `bench/service/run.mjs --json` writes. */
export interface Service {
  throughput: {
    kind: string;
    perSecond: number;
    cpuMicroseconds: number;
    ofBare: number;
    ofBareByCpu: number;
  }[];
  latency: { kind: string; perSecond: number; p50: number; p99: number }[];
  concurrency: { kind: string; callers: number; perSecond: number; p50: number; p99: number }[];
  about: {
    connections: number;
    rounds: number;
    milliseconds: number;
    revocations: number;
    fsyncMilliseconds: number;
  };
}
export function run(size: { quick: boolean }): Promise<Figures[]>;
export function figuresOf(service: Service): Figures[];
