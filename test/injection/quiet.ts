import { format } from "node:util";

const NOTICES = [
  "Pre-stream error for request",
  "SSE streaming error",
  "Reference task",
  "Unhandled error in JSON-RPC POST handler: VersionNotSupportedError",
];

/** Runs an action without printing the SDK's hundreds of notices about refused calls. */
export async function quietly<T>(action: () => Promise<T>): Promise<T> {
  const { error, warn } = console;
  const without =
    (tell: (text: string) => void) =>
    (...words: unknown[]): void => {
      const text = words.map(String).join(" ");
      if (!NOTICES.some((notice) => text.startsWith(notice))) tell(format(...words));
    };
  console.error = without(error);
  console.warn = without(warn);
  try {
    return await action();
  } finally {
    console.error = error;
    console.warn = warn;
  }
}
