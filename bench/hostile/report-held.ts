import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a measured server. At every SIGUSR2, prints to standard error the longest CPU time that the serving
 * thread spent between two turns of its event loop since the last time. Waiting for a busy processor is not included,
 * so a busy machine shows almost the same as a quiet one.
 */
let longest = 0;
let last = spent();

function spent(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

// Without a reference it does not make the loop turn; it runs when the loop turns anyway.
function turn(): void {
  const now = spent();
  longest = Math.max(longest, now - last);
  last = now;
  setImmediate(turn).unref();
}

// The options of a process load this file into its threads too.
if (isMainThread) {
  turn();
  process.on('SIGUSR2', () => {
    process.stderr.write(`\nheld ${JSON.stringify({ ms: longest })}\n`);
    longest = 0;
    last = spent();
  });
}
