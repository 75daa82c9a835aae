import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** Bytes of the objects on the heap of this process that are in use, after a full collection. */
export function heapBytes(): number {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  // Two collections, since objects that the first finds unused may keep others alive until the next.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
