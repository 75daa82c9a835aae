import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** When the main thread and this one compete for a CPU, the main one receives three times as much time. */
const niceness = 5;
const least = 19;

/**
 * Called by a thread before long work: from now on it gives way to the main thread, whose event loop serves all other
 * clients, when there are too few CPUs for both. Does nothing where threads have no priority of their own.
 */
export function yieldToMainThread(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, Math.min(least, getPriority(thread) + niceness));
  } catch {
    // Only Linux has thread priorities, and /proc may not be mounted.
  }
}
