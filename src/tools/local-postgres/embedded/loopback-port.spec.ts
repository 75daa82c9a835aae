import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { Logger } from '../../../base/observability/logger.js';
import { chooseLoopbackPort } from './loopback-port.js';

it('the embedded database has no port on a machine that lacks the address', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plinth-port-'));
  const lines: string[] = [];
  const logger = new Logger('warn', 'text', (line) => lines.push(line));
  try {
    // An address for documentation: no machine has it.
    assert.equal(await chooseLoopbackPort({ directory, wanted: undefined, logger, address: '192.0.2.1' }), undefined);
    assert.match(lines.join(), /through its socket only missing=192\.0\.2\.1/);
    assert.ok((await chooseLoopbackPort({ directory, wanted: undefined, logger })) !== undefined);
    assert.equal(lines.length, 1);
  } finally {
    await rm(directory, { recursive: true });
  }
});
