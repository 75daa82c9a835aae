import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { threadId } from 'node:worker_threads';

/**
 * Loaded into every process and thread under attack: writes the heap size of its thread, which can't be read from
 * outside, into a file of the folder in PLINTH_HEAP_FOLDER, four times a second. Replacing the file each time took a
 * seventh of the processor time of a process of control loops on a busy machine. So the texts have a fixed length, and
 * each overwrites the last one.
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
