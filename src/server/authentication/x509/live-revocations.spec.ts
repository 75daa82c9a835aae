import 'reflect-metadata';
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { TestIdentity } from '../../../../test/support/test-authority.js';
import { CertificateWatch } from './certificate-watch.js';
import { LiveRevocations } from './live-revocations.js';
import type { PeerIdentity } from './peer-identity.js';
import { RevocationMetrics } from './revocation-metrics.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Revocation lists have times in whole seconds. */
const now = Math.floor(Date.now() / 1000) * 1000;
let root: TestIdentity;
let carol: TestIdentity;
let folder: string;
const file = (name: string) => join(folder, name);

before(async () => {
  root = await TestIdentity.root('root');
  carol = await root.issue({ subject: [{ CN: ['carol'] }] });
  folder = mkdtempSync(join(tmpdir(), 'plinth-crl-'));
  writeFileSync(file('ca.crt'), root.cert);
});
after(() => rmSync(folder, { recursive: true }));

const peer = (identity: TestIdentity) =>
  ({ isPresent: true, chain: [new X509Certificate(identity.cert)] }) as unknown as PeerIdentity;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const files = (expired: 'Refuse' | 'Use') => ({ lists: file('list.crl'), authorities: [file('ca.crt')], expired });

describe('a revocation list past its next update', () => {
  it('vouches for nobody, or goes on to count where the policy says so', async () => {
    writeFileSync(file('list.crl'), await root.revocationList([carol], { nextUpdate: new Date(now + hourMs) }));
    const dave = await root.issue({ subject: [{ CN: ['dave'] }] });
    const [refuse, use] = (['Refuse', 'Use'] as const).map(
      (expired) => new LiveRevocations(files(expired), () => now, silent),
    );
    for (const lists of [refuse, use] as LiveRevocations[]) {
      assert.equal(lists.problem(peer(dave), now + hourMs), undefined);
      for (const at of [now, now + dayMs]) assert.match(lists.problem(peer(carol), at) ?? '', /is revoked/);
    }
    assert.match(refuse?.problem(peer(dave), now + hourMs + 1) ?? '', /has expired/);
    assert.equal(use?.problem(peer(dave), now + 365 * dayMs), undefined);
  });
});

describe('a changed file of revocation lists', () => {
  it('is counted with its outcome, and an unusable one changes nothing', async () => {
    writeFileSync(file('list.crl'), await root.revocationList([]));
    const registry = new Registry();
    let look: () => void = () => undefined;
    let looked: () => void = () => undefined;
    const wait = (_ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        look = resolve;
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        looked();
      });
    const lists = new LiveRevocations(files('Refuse'), () => now, silent, new RevocationMetrics(registry), wait);
    const stop = new AbortController();
    lists.start(stop.signal);
    const change = async (content: Buffer) => {
      writeFileSync(file('list.crl'), content);
      const next = new Promise<void>((resolve) => {
        looked = resolve;
      });
      look();
      await next;
      return (await registry.metrics()).split('\n').filter((line) => /^plinth_client_crl_re\w+[ {]/.test(line));
    };
    assert.deepEqual(await change(await root.revocationList([carol])), [
      'plinth_client_crl_reloads_total{status="success"} 1',
      'plinth_client_crl_reloads_total{status="failure"} 0',
      'plinth_client_crl_revoked_certificates 1',
    ]);
    assert.match(lists.problem(peer(carol), now) ?? '', /is revoked/);
    assert.deepEqual(await change(Buffer.from('no list')), [
      'plinth_client_crl_reloads_total{status="success"} 1',
      'plinth_client_crl_reloads_total{status="failure"} 1',
      'plinth_client_crl_revoked_certificates 1',
    ]);
    assert.match(lists.problem(peer(carol), now) ?? '', /is revoked/);
    stop.abort();
    await lists.stopped();
  });
});

describe('the watch over certificates', () => {
  it('warns once a day from thirty days before the end, of lists from six hours before it, and after the end', async () => {
    const end = now + 40 * dayMs;
    const inUse = [
      { use: 'serving', name: 'CN=server', endsAt: end },
      { use: 'client-crl', name: 'CN=root', endsAt: end },
    ];
    let at = now;
    const logged: string[] = [];
    const note = (level: string) => (text: string, fields?: object) =>
      void logged.push(
        `${Math.round((at - now) / hourMs)} ${level} ${(fields as { use: string }).use} ${text.split(' ').at(-1)}`,
      );
    const logger = { warn: note('warn'), error: note('error') };
    const stop = new AbortController();
    const metrics = new Registry();
    const wait = async (ms: number, signal: AbortSignal) => {
      at += ms;
      if (at > end + dayMs) stop.abort();
      signal.throwIfAborted();
    };
    const watch = new CertificateWatch({ inUse: () => inUse, now: () => at, logger, metrics, wait });
    watch.start(stop.signal);
    await watch.stopped();
    const of = (use: string) => logged.filter((line) => line.includes(use));
    assert.equal(of('serving')[0], '241 warn serving soon');
    assert.equal(of('serving').length, 32);
    assert.deepEqual(of('serving').slice(-2), ['960 error serving expired', '984 error serving expired']);
    const ofList = ['955 warn client-crl soon', '960 error client-crl expired', '984 error client-crl expired'];
    assert.deepEqual(of('client-crl'), ofList);
    const { values } = (await metrics.getMetricsAsJSON())[0] as unknown as { values: { value: number }[] };
    assert.deepEqual(
      values.map(({ value }) => value),
      [end / 1000, end / 1000],
    );
  });
});
