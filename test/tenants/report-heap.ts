import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { threadId } from 'node:worker_threads';

/**
 * Loaded into every process and thread under attack: writes the size of the heap of its thread, which nobody sees from
 * outside, into a file of the folder in PLINTH_HEAP_FOLDER, four times a second. With files that took each other's place it
 * was a seventh of the work of a process of control loops on a busy machine; each text has the same length, so one is
 * written over another.
 */
const folder = process.env.PLINTH_HEAP_FOLDER;
if (folder !== undefined) {
  const file = openSync(join(folder, `heap-${process.pid}-${threadId}`), 'w', 0o600);
  const timer = setInterval(() => {
    try {
      const { used_heap_size: used } = getHeapStatistics();
      writeSync(file, `${used} `.padEnd(20), 0, 'utf8');
    } catch {
      clearInterval(timer);
    }
  }, 250);
  timer.unref();
}
