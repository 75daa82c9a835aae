import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { ApiError } from '../../connection/api-error.js';
import { MirrorPods } from './mirror-pods.js';

const podOf = (name: string, annotations: object = {}) =>
  ({ metadata: { name, namespace: 'default', uid: `uid-${name}`, annotations }, spec: {} }) as unknown as Pod;

it('a mirror that the API does not let go keeps no other pod from its mirror', { timeout: 120_000 }, async () => {
  const sent: string[] = [];
  const stopping = new AbortController();
  const mirrors = new MirrorPods({
    api: {
      send: async (method: string, path: string, { body }: { body: Pod }) => {
        sent.push(`${method} ${path}${method === 'POST' ? ` ${body.metadata.name}` : ''}`);
        if (method === 'POST') stopping.abort();
        if (method === 'DELETE') throw new ApiError(403, 'Forbidden', 'a webhook forbids it');
        return body;
      },
    } as never,
    ...{ prefix: 'k', timers: systemTimers, logger: { debug: () => undefined } as never },
    node: () => ({ metadata: { name: 'n', uid: 'u' } }) as never,
    workerOf: () => undefined,
  });
  mirrors.seen(podOf('forged', { 'k/config.mirror': 'x' }));
  mirrors.want([podOf('web')]);
  mirrors.listed();
  await mirrors.run(stopping.signal);
  const pods = '/api/v1/namespaces/default/pods';
  assert.deepEqual(sent, [`DELETE ${pods}/forged`, `POST ${pods} web`]);
});
