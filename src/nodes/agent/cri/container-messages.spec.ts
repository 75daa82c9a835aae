import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  containerStates,
  containerStatus,
  execSyncHead,
  execSyncResponse,
  listContainersResponse,
} from './container-messages.js';
import { linuxResources, sandboxConfig } from './sandbox-messages.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';

describe('messages of the runtime interface', () => {
  it('come back as they were written, negative and large numbers too', () => {
    const written = { cpuQuota: -1, oomScoreAdj: -997, memoryLimitInBytes: 2 ** 40, unified: { a: 'b' } };
    assert.deepEqual(linuxResources.decode(linuxResources.encode(written)), {
      ...{ cpuPeriod: 0, cpuShares: 0, cpusetCpus: '', cpusetMems: '', hugepageLimits: [], memorySwapLimitInBytes: 0 },
      ...written,
    });
    const config = { metadata: { name: 'n', uid, namespace: 'd', attempt: 3 }, labels: { x: 'y' } };
    const read = sandboxConfig.decode(sandboxConfig.encode(config));
    assert.deepEqual([read.metadata, read.labels, read.linux], [config.metadata, config.labels, undefined]);
  });

  it('are refused when they say more than a machine can have, in a time that grows with their length', () => {
    const entries = (count: number, entry: readonly number[]) =>
      Buffer.concat(Array.from({ length: count }, () => Buffer.from(entry)));
    assert.equal(listContainersResponse.decode(entries(100_000, [10, 0])).containers.length, 100_000);
    assert.throws(() => listContainersResponse.decode(entries(100_001, [10, 0])), /more than 100000 entries/);
    const labels = Buffer.concat(
      Array.from({ length: 20_000 }, (_, i) => {
        const key = `k${String(i).padStart(6, '0')}`;
        return Buffer.concat([Buffer.from([98, 9, 10, 7]), Buffer.from(key)]);
      }),
    );
    assert.equal(Object.keys(containerStatus.decode(labels).labels).length, 20_000);
  });

  it('have the beginning of what a command has written, and all of it where that is asked for', () => {
    const stdout = Buffer.alloc(16 * 1024 * 1024, 'o');
    const bytes = execSyncResponse.encode({ stdout, stderr: Buffer.from('error'), exitCode: 3 });
    const head = execSyncHead.decode(bytes);
    assert.deepEqual([head.stdout.toString(), head.stderr.toString(), head.exitCode], ['o'.repeat(10_240), 'error', 3]);
    assert.ok(head.stdout.buffer.byteLength < 100_000, 'the message can be freed');
    assert.ok(execSyncResponse.decode(bytes).stdout.equals(stdout));
  });

  it('skip fields of another form than declared, and no more than so many groups in groups', () => {
    // The id as a number, then as a text; a group that is not declared.
    assert.equal(containerStatus.decode(Buffer.from([8, 7, 10, 1, 65, 11, 8, 1, 12])).id, 'A');
    for (const bytes of [
      Buffer.alloc(1_000_000, 11),
      Buffer.from([10, 200]),
      Buffer.from([12]),
      Buffer.from([255, 255]),
    ])
      assert.throws(() => listContainersResponse.decode(bytes));
  });

  it('have their zeros where nothing was written, and skip what is not declared', () => {
    const unknown = Buffer.from([0xfa, 0x07, 0x01, 0x41, 0x18, 0x02]);
    const status = containerStatus.decode(unknown);
    assert.deepEqual(
      [status.state, status.exitCode, status.labels, status.image],
      [containerStates.exited, 0, {}, undefined],
    );
  });
});
