import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Logger } from '../../../base/observability/logger.js';
import { findCheck, type HealthCheck, runCheck, runChecks } from './health-checks.js';
import { HealthLog } from './health-log.js';

const passing: HealthCheck = { name: 'ping', paths: ['livez', 'readyz'], check: () => undefined };
const failing: HealthCheck = {
  name: 'storage',
  paths: ['readyz'],
  check: () => Promise.reject(new Error('no answer', { cause: new Error('connection refused') })),
};

it('runs a check once for all probes that come meanwhile', async () => {
  let runs = 0;
  let end: (() => void) | undefined;
  const check = () => {
    runs++;
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  };
  const slow: HealthCheck = { name: 'slow', paths: ['readyz'], check };
  const probes = Array.from({ length: 100 }, () => runChecks('readyz', [slow], []));
  const alone = runCheck(slow);
  assert.equal(runs, 1);
  end?.();
  assert.ok((await Promise.all(probes)).every(({ healthy }) => healthy));
  assert.equal((await alone).error, undefined);
  const next = runCheck(slow);
  assert.equal(runs, 2);
  end?.();
  await next;
});

describe('health checks', () => {
  it('run by path, and one failure is enough to fail', async () => {
    const ready = await runChecks('readyz', [passing, failing], []);
    assert.equal(ready.healthy, false);
    assert.equal(ready.text, '[+]ping ok\n[-]storage failed: reason withheld\nreadyz check failed\n');
    const live = await runChecks('livez', [passing, failing], []);
    assert.deepEqual([live.healthy, live.text], [true, '[+]ping ok\nlivez check passed\n']);
  });

  it('can be excluded, and unknown ones can not', async () => {
    const { healthy, text, outcomes } = await runChecks('readyz', [passing, failing], ['storage', 'nothing']);
    assert.equal(healthy, true);
    assert.match(text, /^\[\+\]ping ok\n\[\+\]storage excluded: ok\nwarn: .*"nothing"\n/);
    assert.deepEqual(outcomes, [{ name: 'ping' }]);
  });

  it('answer to their names in other servers', async () => {
    const named: HealthCheck = { ...failing, aliases: ['etcd'], alonePaths: ['livez'] };
    assert.equal((await runChecks('readyz', [passing, named], ['etcd'])).healthy, true);
    const live = await runChecks('livez', [passing, named], ['etcd']);
    assert.equal(live.text, '[+]ping ok\nlivez check passed\n', 'excluding what is not there anyway is no mistake');
    for (const path of ['livez', 'readyz']) assert.equal(findCheck([passing, named], path, 'etcd'), named);
    assert.equal(findCheck([passing, named], 'healthz', 'etcd'), undefined);
    assert.equal(findCheck([passing, named], 'readyz', 'nothing'), undefined);
  });

  it('fail for any thrown value', async () => {
    const odd: HealthCheck = { ...failing, check: () => Promise.reject(undefined) };
    assert.ok((await runCheck(odd)).error instanceof Error);
  });
});

describe('the log of health checks', () => {
  it('says once what a message repeats of its cause', async () => {
    const lines: string[] = [];
    const log = new HealthLog(new Logger('info', 'text', (line) => lines.push(line.slice(25))));
    log.note({ name: 'storage', error: new Error('no answer: refused', { cause: new Error('refused') }) });
    assert.deepEqual(lines, ['INFO  health check fails check=storage reason="no answer: refused"\n']);
  });

  it('reports each change once, in one line', async () => {
    const lines: string[] = [];
    const log = new HealthLog(new Logger('info', 'text', (line) => lines.push(line.slice(25))));
    const failed = await runCheck(failing);
    for (let i = 0; i < 3; i++) log.note(failed);
    log.note(await runCheck(passing));
    for (let i = 0; i < 3; i++) log.note({ name: 'storage' });
    log.note(failed);
    assert.deepEqual(lines, [
      'INFO  health check fails check=storage reason="no answer: connection refused"\n',
      'INFO  health check passes again check=storage\n',
      'INFO  health check fails check=storage reason="no answer: connection refused"\n',
    ]);
  });
});
