import { isMainThread, workerData } from 'node:worker_threads';

/** Text in a body that makes the thread that parses it fail. */
export const throwsInThread = 'throw in the thread';
export const growsInThread = 'grow in the thread';

/**
 * Loaded into a server under test and its threads: causes faults in the thread for large requests, depending on a text
 * in the body.
 */
if (!isMainThread && (workerData as { continueKey?: unknown } | null)?.continueKey !== undefined) {
  const { parse } = JSON;
  JSON.parse = (text: string, ...rest: []) => {
    if (text.includes(throwsInThread)) {
      // Before the request can continue.
      process.nextTick(() => {
        throw new Error('thrown on purpose');
      });
    }
    if (text.includes(growsInThread)) {
      for (const kept: unknown[] = []; ; ) kept.push(new Array(2 ** 24).fill(1.5));
    }
    return parse(text, ...rest) as unknown;
  };
}
