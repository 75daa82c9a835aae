import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { parseOptions } from '../../../base/config/parse-options.js';
import { type ServerOptions, serverOptionGroups } from '../../../base/config/server-options.js';
import type { Timers } from '../../../base/machinery/timers.js';
import { Logger } from '../../../base/observability/logger.js';
import { WorkerPool } from './worker-pool.js';

/** Waits end in the next turn, so a minute is over before a process has begun. */
const quickTimers: Timers = {
  now: () => 0,
  elapsed: () => 0,
  wait: async () => {
    await turn();
  },
};

it('a worker that hangs while it starts is killed', { timeout: 60_000 }, async () => {
  const argv = ['--database-url=postgresql://nobody@127.0.0.1:1/none'];
  const options = parseOptions({ groups: serverOptionGroups, argv, environment: {} }) as ServerOptions;
  let log = '';
  const logger = new Logger('info', 'text', (line) => {
    log += line;
  });
  const start = WorkerPool.start(options, 2, logger, quickTimers, AbortSignal.timeout(30_000));
  await assert.rejects(start, /the worker ended before it served: SIGKILL/);
  assert.match(log, /a worker does not answer and is killed worker=1 silentMs=120000/);
});
