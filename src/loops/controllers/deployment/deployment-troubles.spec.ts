import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { WebDeployment } from '../../../../test/support/web-deployment.js';
import { forbiddenError } from '../../../base/machinery/status-error.js';
import type { WriteAdmission } from '../../../objects/registry/store/admitted-store.js';
import { ManualTimers } from '../testing/manual-timers.js';

const revision = 'deployment.kubernetes.io/revision';
const oneMore = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
const { condition } = WebDeployment;

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

describe('deployments in time', () => {
  it('say when an update makes no progress, and when it goes on', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      await scene.run(['deployment', 'replicaset']);
      const web = await WebDeployment.make(scene, 'deadline', { strategy: oneMore, progressDeadlineSeconds: 60 });
      await web.until('pods counted', ({ status }) => status.updatedReplicas === 2);
      await timers.waiting((ms) => ms === 60_000);
      await scene.pass(30_000);
      const [one, two] = await web.pods('img:1', 2);
      await web.place.node.ready(one ?? '');
      await web.until('one ready', ({ status }) => status.readyReplicas === 1);
      await scene.pass(40_000);
      await web.until('that was progress', ({ status }) => condition(status, 'Progressing')?.status === 'True');
      await scene.pass(20_000);
      const { status } = await web.until('too late', (d) => condition(d.status, 'Progressing')?.status === 'False');
      const failed = condition(status, 'Progressing');
      assert.equal(failed?.reason, 'ProgressDeadlineExceeded');
      assert.match(failed?.message ?? '', /^ReplicaSet "web-\w+" has timed out progressing\.$/);
      assert.equal(failed?.lastTransitionTime, '2030-01-01T00:01:30Z');
      await web.place.node.ready(two ?? '');
      await web.complete();
    } finally {
      await scene.end();
    }
  });

  it('have no deadline while paused', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      await scene.run(['deployment', 'replicaset']);
      const web = await WebDeployment.make(scene, 'paused', { progressDeadlineSeconds: 60, paused: true });
      await web.until('paused', ({ status }) => condition(status, 'Progressing')?.reason === 'DeploymentPaused');
      await scene.pass(3_600_000);
      await web.change((spec) => {
        delete spec.paused;
      });
      const { status } = await web.until('goes on', ({ status: s }) => s.updatedReplicas === 2);
      assert.equal(condition(status, 'Progressing')?.reason, 'ReplicaSetUpdated');
    } finally {
      await scene.end();
    }
  });
});

describe('deployments that something is in the way of', () => {
  /** Refuses new objects of a resource while it is closed. */
  class Gate implements WriteAdmission {
    closed = true;

    constructor(private readonly refused: string) {}

    admit: WriteAdmission['admit'] = async ({ resource: { definition } }, object, old) => {
      const isNew = definition.resource === this.refused && old === undefined && object !== undefined;
      if (isNew && this.closed) throw forbiddenError({ group: '', resource: this.refused }, 'x', 'no room');
      return object;
    };
    validate = async () => undefined;
  }

  it('say that pods can not be made', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      const gate = new Gate('pods');
      await scene.run(['deployment', 'replicaset'], timers, gate);
      const web = await WebDeployment.make(scene, 'pods');
      const { status } = await web.until('a failure', (d) => condition(d.status, 'ReplicaFailure') !== undefined);
      const {
        lastUpdateTime: _updated,
        lastTransitionTime: _changed,
        ...failure
      } = condition(status, 'ReplicaFailure') ?? {};
      const message = 'pods "x" is forbidden: no room';
      assert.deepEqual(failure, { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message });
      gate.closed = false;
      const isWell = web.until('no failure', (d) => d.status.replicas === 2 && !condition(d.status, 'ReplicaFailure'));
      await timers.advanceUntil(60_000, isWell);
    } finally {
      await scene.end();
    }
  });

  it('say that their replica set can not be made', async () => {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      const gate = new Gate('replicasets');
      await scene.run(['deployment', 'replicaset'], timers, gate);
      const web = await WebDeployment.make(scene, 'sets');
      const { status } = await web.until('a failure', (d) => condition(d.status, 'Progressing')?.status === 'False');
      const failure = condition(status, 'Progressing');
      assert.equal(failure?.reason, 'ReplicaSetCreateError');
      assert.match(
        failure?.message ?? '',
        /^Failed to create new replica set "web-\w+": replicasets "x" is forbidden: no room$/,
      );
      const [event] = await web.place.events('ReplicaSetCreateError');
      assert.equal(event?.message, failure?.message);
      gate.closed = false;
      const goesOn = web.until(
        'pods',
        (d) => d.status.replicas === 2 && condition(d.status, 'Progressing')?.status === 'True',
      );
      await timers.advanceUntil(60_000, goesOn);
    } finally {
      await scene.end();
    }
  });
});

describe('two processes with the loops of deployments', () => {
  it('roll out together', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const loops = ['deployment', 'replicaset'] as const;
      await Promise.all([scene.run(loops), scene.run(loops)]);
      const web = await WebDeployment.make(scene, 'fight', { replicas: 6 });
      const stop = await web.place.node.work();
      await web.complete();
      await web.setImage('img:2');
      await web.sizes({ 'img:1': 0, 'img:2': 6 });
      const { metadata, status } = await web.complete();
      assert.equal(metadata.annotations?.[revision], '2');
      assert.equal(status.collisionCount, undefined);
      stop();
    } finally {
      await scene.end();
    }
  });

  it('finish what the other left half done', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const first = await scene.run(['deployment', 'replicaset']);
      const web = await WebDeployment.make(scene, 'relay', { replicas: 6 });
      const stop = await web.place.node.work();
      await web.complete();
      await web.setImage('img:2');
      await web.place.pods('new ones', (all) => all.some(({ spec }) => spec.containers?.[0]?.image === 'img:2'));
      await first.stop();
      await scene.run(['deployment', 'replicaset']);
      await web.sizes({ 'img:1': 0, 'img:2': 6 });
      await web.complete();
      stop();
    } finally {
      await scene.end();
    }
  });
});
