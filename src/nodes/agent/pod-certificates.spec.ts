import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Timers } from '../../base/machinery/timers.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { parseCertificateRequest } from '../../base/machinery/x509/certificate-request.js';
import { encodePem } from '../../base/machinery/x509/pem.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import { PodCertificates } from './pod-certificates.js';
import { VolumePending } from './volumes/volume-pending.js';
import { VolumeProblem } from './volumes/volume-problem.js';

const hour = 3_600_000;
const pod = { metadata: { namespace: 'n', name: 'p', uid: 'u' }, spec: { serviceAccountName: 'robot' } } as Pod;
const source = { signerName: 'example.com/s', keyType: 'ECDSAP256', keyPath: 'key' };

// biome-ignore lint/suspicious/noExplicitAny: requests as the agent sends them
type Request = any;

/** An API with a signer that decides as `decide` says. */
class Scene {
  now = 0;
  readonly requests: Request[] = [];
  decide: (request: Request) => object = () => ({});
  fails: Error | undefined;
  readonly certificates: PodCertificates;

  constructor() {
    const api = {
      send: async (method: string, path: string, { body }: { body?: unknown } = {}) => this.send(method, path, body),
    };
    const timers = {
      now: () => this.now,
      elapsed: () => this.now,
      wait: async (ms: number) => {
        this.now += ms;
      },
    };
    this.certificates = new PodCertificates({
      api: api as unknown as ApiUser,
      names: vendorNames('kubernetes', 'kubernetes'),
      timers: timers as unknown as Timers,
      random: () => 0,
      nodeName: 'here',
      nodeUid: () => 'node-uid',
      signal: new AbortController().signal,
    });
  }

  private send(method: string, path: string, body: unknown): unknown {
    if (this.fails !== undefined) throw this.fails;
    if (path.endsWith('/serviceaccounts/robot')) return { metadata: { uid: 'account-uid' } };
    assert.match(path, /^\/apis\/certificates\.k8s\.io\/v1\/namespaces\/n\/podcertificaterequests/);
    if (method === 'POST') {
      this.requests.push(body);
      return { metadata: { name: `req-${this.requests.length}` } };
    }
    const request = this.requests[Number(path.split('req-')[1]) - 1];
    return { metadata: { namespace: 'n', name: 'req' }, status: this.decide(request) };
  }

  issue(chain: string): object {
    const time = (ms: number) => new Date(this.now + ms).toISOString();
    const conditions = [{ type: 'Issued', status: 'True' }];
    return { conditions, certificateChain: chain, beginRefreshAt: time(hour), notAfter: time(2 * hour) };
  }
}

describe('PodCertificates', () => {
  it('requests one certificate for each source, with a proof of the key, and renews it', async () => {
    const scene = new Scene();
    scene.decide = () => scene.issue(`chain ${scene.requests.length}`);
    const [one, same] = await Promise.all([
      scene.certificates.credentials(pod, source),
      scene.certificates.credentials(pod, source),
    ]);
    assert.equal(one, same);
    assert.equal(scene.requests.length, 1);
    const { metadata, spec } = scene.requests[0];
    assert.deepEqual(metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }]);
    const { stubPKCS10Request, ...rest } = spec;
    assert.deepEqual(rest, {
      ...{ signerName: 'example.com/s', podName: 'p', podUID: 'u', nodeName: 'here', nodeUID: 'node-uid' },
      ...{ serviceAccountName: 'robot', serviceAccountUID: 'account-uid', maxExpirationSeconds: 86_400 },
    });
    assert.equal(one.chain, 'chain 1');
    scene.now += hour - 1;
    assert.equal((await scene.certificates.credentials(pod, source)).chain, 'chain 1');
    scene.now += 1;
    const renewed = await scene.certificates.credentials(pod, source);
    assert.equal(renewed.chain, 'chain 2');
    assert.notEqual(renewed.privateKey, one.privateKey);
    await scene.certificates.credentials(pod, { ...source, keyPath: 'other' });
    assert.equal(scene.requests.length, 3);
    scene.certificates.forget('u');
    await scene.certificates.credentials(pod, source);
    assert.equal(scene.requests.length, 4);
  });

  it('knows the types of keys of the API', async () => {
    for (const [keyType, type] of [
      ['RSA3072', 'rsa'],
      ['ECDSAP256', 'ec'],
      ['ECDSAP384', 'ec'],
      ['ECDSAP521', 'ec'],
      ['ED25519', 'ed25519'],
    ] as const) {
      const scene = new Scene();
      scene.decide = () => scene.issue('chain');
      const { privateKey } = await scene.certificates.credentials(pod, { ...source, keyType });
      assert.equal(createPrivateKey(privateKey).asymmetricKeyType, type, keyType);
      const der = Buffer.from(scene.requests[0].spec.stubPKCS10Request, 'base64');
      // Its signature is checked, too.
      const request = parseCertificateRequest(Buffer.from(encodePem('CERTIFICATE REQUEST', der)));
      assert.equal(request.commonName, '', keyType);
    }
    await assert.rejects(new Scene().certificates.credentials(pod, { ...source, keyType: 'DSA' }), VolumeProblem);
  });

  it('waits for a signer, with one request until that is gone or lost', async () => {
    const scene = new Scene();
    const ask = () => scene.certificates.credentials(pod, source);
    await assert.rejects(ask(), VolumePending);
    await assert.rejects(ask(), VolumePending);
    assert.equal(scene.requests.length, 1);
    scene.decide = () => {
      throw new ApiError(404, 'NotFound', 'gone');
    };
    await assert.rejects(ask(), /gone/);
    scene.decide = () => ({});
    await assert.rejects(ask(), VolumePending);
    assert.equal(scene.requests.length, 2);
    scene.now += hour;
    await assert.rejects(ask(), VolumePending);
    assert.equal(scene.requests.length, 3);
  });

  it('ends with the refusal of a signer, but never takes away a certificate that is valid', async () => {
    const refused = new Scene();
    refused.decide = () => ({ conditions: [{ type: 'Denied', status: 'True', reason: 'No', message: 'never' }] });
    const ask = () => refused.certificates.credentials(pod, source);
    await assert.rejects(ask(), /PodCertificateRequest "n\/req" ended with Denied: No: never/);
    await assert.rejects(ask(), VolumeProblem);
    assert.equal(refused.requests.length, 1);
    const scene = new Scene();
    scene.decide = () => scene.issue('chain');
    await scene.certificates.credentials(pod, source);
    scene.now += hour;
    scene.fails = new Error('connect ECONNREFUSED');
    assert.equal((await scene.certificates.credentials(pod, source)).chain, 'chain');
    scene.now += hour;
    await assert.rejects(scene.certificates.credentials(pod, source), /ECONNREFUSED/);
  });
});
