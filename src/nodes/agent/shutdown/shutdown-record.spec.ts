import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { ShutdownRecord } from './shutdown-record.js';

it('ShutdownRecord keeps the times of the last shutdown for the next process', async () => {
  const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-shutdown-'));
  const file = join(folder, 'state');
  try {
    const record = await ShutdownRecord.open(file);
    assert.deepEqual(record.times, { start: 0, end: 0 });
    await record.began(1_900_000_000_250);
    assert.deepEqual((await ShutdownRecord.open(file)).times, { start: 1_900_000_000.25, end: 0 });
    await record.ended(1_900_000_010_000);
    assert.deepEqual((await ShutdownRecord.open(file)).times, { start: 1_900_000_000.25, end: 1_900_000_010 });
    assert.equal(
      await fs.readFile(file, 'utf8'),
      '{"startTime":"2030-03-17T17:46:40.250Z","endTime":"2030-03-17T17:46:50.000Z"}\n',
    );
    await record.began(1_900_000_100_000);
    assert.equal(record.times.end, 0, 'the new one has not ended');
    for (const broken of ['', '[', 'null', '{"startTime":7e9}', '{"startTime":"x"}']) {
      await fs.writeFile(file, broken);
      const { times } = await ShutdownRecord.open(file);
      assert.equal(times.end, 0, broken);
    }
  } finally {
    await fs.rm(folder, { recursive: true });
  }
});
