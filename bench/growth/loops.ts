import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { residentBytes } from '../../test/e2e/support/processes.js';
import type { TestCluster } from '../../test/e2e/support/test-cluster.js';
import { freePort } from '../../test/support/ports.js';
import type { Load } from './load.js';
import { turnOf } from './turns.js';

const path = '/api/v1/namespaces/default';
const patienceMs = 600_000;

/**
 * What the control loops make of many objects: how long a new process takes until it has counted a quota of them and
 * collected an object whose owner is gone, its memory, and the longest hold of its event loop.
 */
export async function loopsWithMany(cluster: TestCluster, load: Load): Promise<Record<string, unknown>> {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: '00000000-0000-4000-8000-000000000000' };
  const orphan = { metadata: { name: 'owned', ownerReferences: [owner] } };
  await load.send('POST', `${path}/configmaps`, 201, JSON.stringify(orphan));
  const quota = {
    metadata: { name: 'all' },
    spec: { hard: { 'count/configmaps': '9000000', 'count/pods': '9000000' } },
  };
  await load.send('POST', `${path}/resourcequotas`, 201, JSON.stringify(quota));
  const port = await freePort();
  const began = performance.now();
  const child = cluster.startControllers([`--controllers-metrics-bind-address=127.0.0.1:${port}`]);
  const until = async (what: string, look: () => Promise<boolean>) => {
    while (!(await look())) {
      if (performance.now() - began > patienceMs) throw new Error(`${what} takes too long`);
      await delay(100);
    }
    return (performance.now() - began) / 1000;
  };
  try {
    const isCollected = async () => {
      const list = await load.send(
        'GET',
        `${path}/configmaps?fieldSelector=metadata.name%3Downed`,
        200,
        undefined,
        true,
      );
      return !list[1].includes('"name":"owned"');
    };
    let used = '';
    const isCounted = async () => {
      const [, text] = await load.send('GET', `${path}/resourcequotas/all`, 200, undefined, true);
      used = /"used":(\{[^}]*\})/.exec(text)?.[1] ?? '';
      return used !== '' && used !== '{}';
    };
    const collected = until('garbage collection', isCollected);
    const counted = await until('the count of the quota', isCounted);
    return {
      'quota counted, s': counted,
      used,
      'orphan collected, s': await collected,
      MiB: residentBytes(child.pid as number) / 2 ** 20,
      'longest turn, ms': turnOf(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
    };
  } finally {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
    await load.send('DELETE', `${path}/resourcequotas/all`, 200);
  }
}
