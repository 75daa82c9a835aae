import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { ImportRules, type TakingOptions } from './import-rules.js';
import { overLive } from './over-live.js';
import { Pool } from './pool.js';
import { Tally } from './tally.js';

const usual: TakingOptions = { withDerived: false, withVolumes: false, keepAddresses: false };

function object(apiVersion: string, kind: string, more: object = {}, metadata: object = {}): ApiObject {
  return { apiVersion, kind, metadata: { name: 'a', ...metadata }, ...more };
}

const ofDeployment = {
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u', controller: true }],
};

describe('the rules of an import', () => {
  const specOf = (taken: ReturnType<ImportRules['take']>) => ('object' in taken ? taken.object.spec : taken.why);

  it('bind a claim only to a volume that comes along or is there', () => {
    const claim = object('v1', 'PersistentVolumeClaim', { spec: { volumeName: 'v' } });
    const made = object(
      'v1',
      'PersistentVolume',
      {},
      { name: 'v', annotations: { 'pv.kubernetes.io/provisioned-by': 'p' } },
    );
    const rules = new ImportRules(usual);
    assert.match(String(specOf(rules.take(made))), /provisioner/);
    assert.deepEqual(specOf(rules.take(claim)), {});
    rules.hasVolume('v');
    assert.deepEqual(specOf(rules.take(claim)), { volumeName: 'v' });
    const all = new ImportRules({ ...usual, withVolumes: true });
    assert.ok('object' in all.take(made));
    assert.deepEqual(specOf(all.take(claim)), { volumeName: 'v' });
  });

  it('let deployments scale their replica sets, and leave out what loops make', () => {
    const set = object('apps/v1', 'ReplicaSet', { spec: { replicas: 2, x: 1 } }, ofDeployment);
    assert.deepEqual(specOf(new ImportRules(usual).take(set)), { replicas: 0, x: 1 });
    assert.deepEqual(specOf(new ImportRules({ ...usual, withDerived: true }).take(set)), { replicas: 2, x: 1 });
    assert.deepEqual(specOf(new ImportRules(usual).take(object('apps/v1', 'ReplicaSet', { spec: { replicas: 2 } }))), {
      replicas: 2,
    });
    const ended = object('v1', 'Pod', { status: { phase: 'Failed' } });
    assert.ok('why' in new ImportRules(usual).take(ended));
    assert.ok('object' in new ImportRules({ ...usual, withDerived: true }).take(ended));
  });
});

describe('an object over a live one', () => {
  const live = { uid: 'u', resourceVersion: '7' };
  const cases: readonly [string, ApiObject, object, object][] = [
    [
      'a service keeps its addresses and ports',
      object('v1', 'Service', { spec: { ports: [{ port: 80 }, { name: 'b', port: 2 }] } }),
      {
        spec: {
          clusterIP: '10.0.0.1',
          ports: [
            { port: 80, nodePort: 30000 },
            { name: 'c', port: 2, nodePort: 1 },
          ],
        },
      },
      {
        spec: {
          clusterIP: '10.0.0.1',
          ports: [
            { port: 80, nodePort: 30000 },
            { name: 'b', port: 2 },
          ],
        },
      },
    ],
    [
      'a claim its volume',
      object('v1', 'PersistentVolumeClaim', { spec: { x: 1 } }),
      { spec: { volumeName: 'v' } },
      { spec: { x: 1, volumeName: 'v' } },
    ],
    [
      'a job its selector and template',
      object('batch/v1', 'Job', { spec: { template: 'new', y: 1 } }),
      { spec: { template: 'live', selector: 's' } },
      { spec: { template: 'live', selector: 's', y: 1 } },
    ],
    [
      'a replica set the scale of its deployment',
      object('apps/v1', 'ReplicaSet', { spec: { replicas: 0 } }, ofDeployment),
      { spec: { replicas: 3 } },
      { spec: { replicas: 3 } },
    ],
    [
      'anything else nothing',
      object('v1', 'ConfigMap', { data: { a: '1' } }),
      { data: { b: '2' } },
      { data: { a: '1' } },
    ],
  ];
  for (const [what, given, present, expected] of cases) {
    it(what, () => {
      const { apiVersion: _, kind: __, metadata, ...rest } = overLive(given, { ...present, metadata: live });
      assert.deepEqual(rest, expected);
      assert.deepEqual([metadata.uid, metadata.resourceVersion], ['u', '7']);
    });
  }
});

describe('the means of an import', () => {
  it('run a limited number of tasks, and begin none after a fault', async () => {
    const pool = new Pool(2);
    let running = 0;
    let most = 0;
    const task = async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running -= 1;
    };
    for (let i = 0; i < 10; i++) await pool.add(task);
    await pool.drain();
    assert.equal(most, 2);
    await pool.add(() => Promise.reject(new Error('first')));
    await assert.rejects(pool.drain(), /first/);
    await assert.rejects(pool.add(task), /first/);
  });

  it('count outcomes, and put objects with one reason together without controls of the terminal', () => {
    const tally = new Tally();
    tally.count('pods', 'created');
    assert.equal(tally.hasFaults, false);
    for (const name of ['x/a', 'x/b']) tally.note('pods', name, `pods "${name.slice(2)}" is\u001b[2J\r\nbad`, true);
    tally.note('pods', 'x/c', 'fine', false);
    assert.deepEqual(
      tally.reasons.map(({ objects, names, isFault }) => [objects, names, isFault]),
      [
        [2, ['x/a', 'x/b'], true],
        [1, ['x/c'], false],
      ],
    );
    assert.ok(/^[ -~]*$/.test(tally.reasons[0]?.why ?? ''));
    assert.equal(tally.hasFaults, true);
  });
});
