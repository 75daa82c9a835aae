import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from '../../src/base/database/with-client.js';
import { removeWithUs } from './child-guard.js';

/** These ports are below those that systems use for outgoing connections and for listeners without a fixed port. */
const [lowest, highest] = [20_000, 32_000];

/**
 * A TCP port that is free at the moment. Other processes of the same test run don't get it while this process lives, so
 * a server can be stopped and started again on it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const port = randomInt(lowest, highest);
    if (reserve(port) && (await isFree(port))) return port;
  }
  throw new Error('there is no free port');
}

/** Reserves a port in the folder of temporary files, which is one per test run (scripts/test.js). */
function reserve(port: number): boolean {
  const folder = join(tmpdir(), `plinth-port-${port}`);
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  removeWithUs(folder);
  return true;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** Whether a database answers at the URL. */
export async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('select 1'), 2000);
    return true;
  } catch {
    return false;
  }
}
