import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryUsage } from 'node:process';
import { threadId } from 'node:worker_threads';

/**
 * Loaded into every process and thread under attack: writes the size of the heap of its thread, which nobody sees from
 * outside, into a file of the folder in PLINTH_HEAP_FOLDER, four times a second.
 */
const folder = process.env.PLINTH_HEAP_FOLDER;
if (folder !== undefined) {
  const file = join(folder, `heap-${process.pid}-${threadId}`);
  const timer = setInterval(() => {
    try {
      const { heapUsed, external } = memoryUsage();
      writeFileSync(`${file}.new`, `${heapUsed} ${external}`);
      renameSync(`${file}.new`, file);
    } catch {
      clearInterval(timer);
    }
  }, 250);
  timer.unref();
}
