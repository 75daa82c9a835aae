import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { dayOf, invalidSinceLabel, lastUsedLabel, trackingMapName } from '../../base/machinery/legacy-tokens.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { ConfigMap } from '../../objects/apis/core/v1/config-map.types.js';
import { ManualTimers } from './testing/manual-timers.js';

const { systemNamespace, publicNamespace, bootstrapTokenSecretType } = vendorNames('k8s.io');
const hour = 3_600_000;

describe('the loops for bootstrap tokens', () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());

  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const token = (scene: LoopScene, id: string, expiration: number | undefined, more: Record<string, string> = {}) => {
    const fields: Record<string, string> = {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': 'true',
      ...(expiration === undefined ? {} : { expiration: new Date(expiration).toISOString().replace('.000Z', 'Z') }),
      ...more,
    };
    const data = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, base64(value)]));
    const metadata = { name: `bootstrap-token-${id}`, namespace: systemNamespace };
    return scene.create('secrets', { metadata, type: bootstrapTokenSecretType, data } as never);
  };
  const untilSigned = (scene: LoopScene, ...ids: string[]) =>
    scene.until<ConfigMap & ApiObject, boolean>('configmaps', `signed by ${ids.join(', ')}`, ([map]) => {
      const signed = Object.keys(map?.data ?? {}).filter((key) => key.startsWith('jws-kubeconfig-'));
      return JSON.stringify(signed.sort()) === JSON.stringify(ids.map((id) => `jws-kubeconfig-${id}`).sort());
    });
  const untilTokens = (scene: LoopScene, ...ids: string[]) =>
    scene.until<ApiObject, boolean>('secrets', `left are ${ids.join(', ')}`, (secrets) => {
      const names = secrets.map(({ metadata }) => metadata.name);
      return JSON.stringify(names.sort()) === JSON.stringify(ids.map((id) => `bootstrap-token-${id}`).sort());
    });

  async function withScene(use: (scene: LoopScene, timers: ManualTimers) => Promise<void>): Promise<void> {
    const timers = new ManualTimers();
    const scene = await LoopScene.start({ postgres, timers });
    try {
      for (const name of [systemNamespace, publicNamespace]) await scene.create('namespaces', { metadata: { name } });
      await use(scene, timers);
      assert.deepEqual(scene.logged, []);
    } finally {
      await scene.end();
    }
  }

  it('sign the public map for tokens that may, until they expire, two at once and after a stop as well', () =>
    withScene(async (scene, timers) => {
      await token(scene, 'aaaaaa', undefined);
      await token(scene, 'bbbbbb', timers.now() + hour);
      await token(scene, 'cccccc', timers.now() - hour);
      await token(scene, 'dddddd', undefined, { 'usage-bootstrap-signing': 'false' });
      const first = await scene.run(['bootstrapsigner']);
      await scene.run(['bootstrapsigner']);
      const metadata = { name: 'cluster-info', namespace: publicNamespace };
      await scene.create('configmaps', {
        metadata,
        data: { kubeconfig: 'x', 'jws-kubeconfig-zzzzzz': 'old' },
      } as never);
      await untilSigned(scene, 'aaaaaa', 'bbbbbb');
      await first.stop();
      await token(scene, 'eeeeee', undefined);
      await untilSigned(scene, 'aaaaaa', 'bbbbbb', 'eeeeee');
      await scene.delete('secrets', systemNamespace, 'bootstrap-token-aaaaaa');
      await untilSigned(scene, 'bbbbbb', 'eeeeee');
      await timers.waiting((_ms, left) => left > 0 && left <= 600_000);
      // The loop checks the tokens every ten minutes, and when the next one expires.
      await timers.advanceUntil(600_000, untilSigned(scene, 'eeeeee'));
    }));

  it('remove expired tokens at their time, two at once and after a stop as well', () =>
    withScene(async (scene, timers) => {
      await token(scene, 'aaaaaa', undefined);
      await token(scene, 'bbbbbb', timers.now() + 60_000);
      await token(scene, 'cccccc', timers.now() - hour);
      const first = await scene.run(['tokencleaner']);
      await scene.run(['tokencleaner']);
      await untilTokens(scene, 'aaaaaa', 'bbbbbb');
      await timers.waiting((_ms, left) => left === 60_000);
      timers.advance(59_999);
      assert.ok(await scene.find('secrets', systemNamespace, 'bootstrap-token-bbbbbb'));
      await first.stop();
      // The other process may have read the time just before it was advanced; it checks again after another such wait.
      await timers.advanceUntil(60_000, untilTokens(scene, 'aaaaaa'));
      await token(scene, 'dddddd', timers.now() - 1);
      await untilTokens(scene, 'aaaaaa');
    }));

  it('mark unused tokens of accounts invalid, and delete them when they have been so as long', () =>
    withScene(async (scene, timers) => {
      const day = 24 * hour;
      const names = vendorNames('k8s.io');
      const [used, invalid] = [lastUsedLabel(names), invalidSinceLabel(names)];
      await scene.create('configmaps', {
        metadata: { name: trackingMapName, namespace: systemNamespace },
        data: { since: dayOf(timers.now() - 10 * day) },
      } as never);
      const secret = (name: string, labels: Record<string, string> = {}) => {
        const annotations = { [names.serviceAccountNameAnnotation]: 'robot' };
        const metadata = { name, namespace: 'default', labels, annotations };
        return scene.create('secrets', { metadata, type: names.serviceAccountTokenSecretType } as never);
      };
      await scene.create('serviceaccounts', {
        metadata: { name: 'robot', namespace: 'default' },
        secrets: ['old', 'mounted', 'used', 'odd'].map((name) => ({ name })),
      } as never);
      for (const name of ['old', 'mounted', 'made-by-hand']) await secret(name);
      await secret('used', { [used]: '2999-12-31' });
      await secret('odd', { [used]: 'x' });
      await scene.create('pods', {
        metadata: { name: 'p', namespace: 'default' },
        spec: {
          containers: [{ name: 'c', image: 'i' }],
          volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 'mounted' } }] } }],
        },
      } as never);
      const settings = { legacyTokenPeriodMs: 2 * day };
      await scene.run(['legacy-serviceaccount-token-cleaner-controller'], timers, undefined, settings);
      const marked = scene.until<ApiObject, readonly string[]>('secrets', 'a marked token', (secrets) => {
        const found = secrets.filter(({ metadata }) => metadata.labels?.[invalid] !== undefined);
        return found.length > 0 && found.map(({ metadata }) => metadata.name ?? '');
      });
      await timers.advanceUntil(day, marked);
      assert.deepEqual(await marked, ['old']);
      const left = scene.until<ApiObject, readonly string[]>('secrets', 'a deleted token', (secrets) => {
        const found = secrets.map(({ metadata }) => metadata.name ?? '');
        return !found.includes('old') && found.sort();
      });
      await timers.advanceUntil(day, left);
      assert.deepEqual(await left, ['made-by-hand', 'mounted', 'odd', 'used']);
    }));
});
