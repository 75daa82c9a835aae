import { memoryUsage } from 'node:process';

/**
 * Loaded into a server under test: at every SIGUSR2, collects all garbage and says on standard error what memory is in
 * use.
 */
process.on('SIGUSR2', () => {
  // What finalizers hold goes only with the second collection.
  for (let i = 0; i < 3; i++) (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, external, rss } = memoryUsage();
  process.stderr.write(`\nmemory ${JSON.stringify({ retained: heapUsed + external, resident: rss })}\n`);
});
