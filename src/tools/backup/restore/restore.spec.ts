import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { ApiFault } from '../cluster/api-fault.js';
import type { RestoreClient } from './past.js';
import type { RestoreStep } from './plan.js';
import { restore } from './restore.js';

const kindOf = (kind: string) => ({
  apiVersion: 'apps/v1',
  kind,
  resource: `${kind.toLowerCase()}s`,
  namespaced: true,
  verbs: [],
  hasStatus: true,
  storage: '',
  otherNames: [],
});

function update(kind: string, name: string, uid: string, controller?: string): RestoreStep {
  const ownerReferences =
    controller === undefined
      ? {}
      : {
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: controller, controller: true },
          ],
        };
  const object = { apiVersion: 'apps/v1', kind, metadata: { name, namespace: 'shop', uid, ...ownerReferences } };
  return { action: 'update', kind: kindOf(kind), past: object as ApiObject, present: object as ApiObject };
}

it('a conflict is no failure for what a loop changes because its owner was restored', async () => {
  const changed = new ApiFault(409, 'Conflict', 'the object has been modified');
  const client = {
    send: async (_method: string, path: string, { body }: { body?: unknown }) => {
      if (path.includes('/replicasets/')) throw changed;
      return body;
    },
  } as unknown as RestoreClient;
  const steps = [
    update('Deployment', 'web', 'w'),
    update('ReplicaSet', 'web-1', 'w-1', 'w'),
    update('ReplicaSet', 'other-1', 'o-1', 'other'),
    update('ReplicaSet', 'alone', 'a'),
  ];
  const plan = { version: '7', steps, notSeen: [], uids: new Map() };
  const { signal } = new AbortController();
  const outcomes: unknown[] = [];
  for await (const { step, outcome } of restore({ client, plan, dryRun: false, withStatus: false, signal })) {
    outcomes.push([step.past.metadata.name, outcome]);
  }
  assert.deepEqual(outcomes, [
    ['web', 'done'],
    ['web-1', 'done'],
    ['other-1', 'failed'],
    ['alone', 'failed'],
  ]);
});
