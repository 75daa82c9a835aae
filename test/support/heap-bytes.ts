import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** Bytes of the objects on the heap of this process that are in use, after a full collection. */
export function heapBytes(): number {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  // What a collection finds unused may hold other objects until the next one.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
