import { memoryUsage } from 'node:process';

/**
 * Loaded into a server under test. At every SIGUSR2 it collects all garbage and prints the memory in use to standard
 * error.
 */
process.on('SIGUSR2', () => {
  // Several collections, since objects with finalizers are only freed by the second.
  for (let i = 0; i < 3; i++) (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, external, rss } = memoryUsage();
  process.stderr.write(`\nmemory ${JSON.stringify({ retained: heapUsed + external, resident: rss })}\n`);
});
