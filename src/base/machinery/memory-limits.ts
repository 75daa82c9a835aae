import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** The limits of a process's memory, in bytes. */
export interface MemoryLimits {
  /** The engine aborts a process whose heap grows larger (`--max-old-space-size`). */
  readonly heap: number;
  /** The machine's memory, or less where the process may use only a part of it. */
  readonly machine: number;
}

export function memoryLimits(): MemoryLimits {
  const total = totalmem();
  const limit = process.constrainedMemory();
  // If there is no limit, the value is 0 or larger than any possible memory.
  return { heap: getHeapStatistics().heap_size_limit, machine: limit > 0 && limit < total ? limit : total };
}
