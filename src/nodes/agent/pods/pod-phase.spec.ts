import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../../../base/machinery/schema/index.js';
import { pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { podPhase } from './pod-phase.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';

function podOf(spec: object, metadata: object = {}) {
  const own = { name: 'web', namespace: 'default', uid, ...metadata };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata: own, spec: { containers: [], ...spec } }).value;
}

describe('the phase of a pod', () => {
  const status = (name: string, state: object, lastState: object = {}) =>
    ({ name, state, lastState, ready: false, started: false }) as never;
  const ended = (exitCode: number) => ({ terminated: { exitCode } });
  const of = (spec: object, inits: never[], apps: never[], isOver = false) =>
    podPhase({ pod: podOf(spec), inits, apps, isOver });

  it('follows from its containers and its restart policy', () => {
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', { waiting: {} })]), 'Pending');
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', { running: {} })]), 'Running');
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', { waiting: {} }, ended(1))]), 'Running');
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', ended(1))]), 'Running');
    assert.equal(of({ restartPolicy: 'Never' }, [], [status('a', ended(1))]), 'Failed');
    assert.equal(of({ restartPolicy: 'Never' }, [], [status('a', ended(0))]), 'Succeeded');
    assert.equal(of({ restartPolicy: 'OnFailure' }, [], [status('a', ended(1))]), 'Running');
    assert.equal(of({ restartPolicy: 'Always' }, [], [status('a', ended(0))], true), 'Succeeded');
    const again = { exitCodes: { operator: 'In', values: [1] } };
    for (const action of ['Restart', 'RestartAllContainers']) {
      const own = { restartPolicy: 'Never', restartPolicyRules: [{ action, ...again }] };
      const spec = { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a', ...own }] };
      assert.equal(of(spec, [], [status('a', ended(1))]), 'Running', action);
      assert.equal(of(spec, [], [status('a', ended(2))]), 'Failed', action);
    }
    const init = { initContainers: [{ name: 'i', image: 'i' }] };
    // A container that was removed because the whole pod restarts does not count as failed.
    const removed = { terminated: { exitCode: 137, reason: 'RestartingAllContainers' } };
    const waiting = (name: string) => status(name, { waiting: {} }, removed);
    assert.equal(of({ ...init, restartPolicy: 'Never' }, [waiting('i')], [waiting('a')]), 'Running');
    assert.equal(
      of({ ...init, restartPolicy: 'Never' }, [status('i', ended(1))], [status('a', { waiting: {} })]),
      'Failed',
    );
    assert.equal(
      of({ ...init, restartPolicy: 'Always' }, [status('i', ended(1))], [status('a', { waiting: {} })]),
      'Pending',
    );
  });
});
