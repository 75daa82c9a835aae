import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Timers } from '../../base/machinery/timers.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import { ApiObjects } from './api-objects.js';
import { VolumeProblem } from './volumes/volume-problem.js';

describe('ApiObjects', () => {
  it('goes on with what the API said last while that does not answer, and forgets what nobody asks for', async () => {
    let now = 0;
    let answer: () => unknown = () => ({ data: { word: 'old' } });
    const api = { send: async () => answer() } as unknown as ApiUser;
    const timers = { elapsed: () => now } as Timers;
    const names = vendorNames('kubernetes', 'kubernetes');
    const objects = new ApiObjects(api, names, timers, new AbortController().signal);
    const word = async () => (await objects.configMap('default', 'map'))?.data?.word;
    const fail = (error: Error) => {
      answer = () => {
        throw error;
      };
      now += 1000;
    };
    assert.equal(await word(), 'old');
    fail(new Error('connect ECONNREFUSED'));
    assert.equal(await word(), 'old');
    fail(new ApiError(503, 'ServiceUnavailable', 'not now'));
    assert.equal(await word(), 'old');
    // Any response counts, whatever its status.
    fail(new ApiError(403, 'Forbidden', 'no'));
    await assert.rejects(word(), /no/);
    fail(new ApiError(404, 'NotFound', 'gone'));
    assert.equal(await word(), undefined);
    fail(new Error('connect ECONNREFUSED'));
    assert.equal(await word(), undefined);
    now += 600_000;
    await assert.rejects(word(), /ECONNREFUSED/);
  });

  it('selects the trust bundles of a signer: all, some or none', async () => {
    const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----`;
    const bundle = (...texts: string[]) => ({ spec: { trustBundle: `about it\n${texts.map(pem).join('\n\n')}\n` } });
    const paths: string[] = [];
    const api = {
      send: async (_method: string, path: string) => {
        paths.push(decodeURIComponent(path.replaceAll('+', ' ')));
        return path.includes('?') ? { items: [bundle('AAAA', 'BBBB'), bundle('BBBB', 'CCCC')] } : bundle('AAAA');
      },
    } as unknown as ApiUser;
    const timers = { elapsed: () => 0 } as Timers;
    const objects = new ApiObjects(api, vendorNames('kubernetes', 'kubernetes'), timers, new AbortController().signal);
    const all = (...texts: string[]) => texts.map((text) => `${pem(text)}\n`).join('');
    assert.equal(await objects.trustBundle({ name: 'one' }), all('AAAA'));
    assert.equal(await objects.trustBundle({ signerName: 's/n', labelSelector: {} }), all('AAAA', 'BBBB', 'CCCC'));
    const matchExpressions = [{ key: 'k', operator: 'In', values: ['v', 'w'] }];
    await objects.trustBundle({ signerName: 's/n', labelSelector: { matchLabels: { a: 'b' }, matchExpressions } });
    assert.equal(await objects.trustBundle({ signerName: 's/n', labelSelector: undefined }), undefined);
    const base = '/apis/certificates.k8s.io/v1/clustertrustbundles';
    assert.deepEqual(paths, [
      `${base}/one`,
      `${base}?fieldSelector=spec.signerName=s/n`,
      `${base}?fieldSelector=spec.signerName=s/n&labelSelector=a=b,k in (v,w)`,
    ]);
  });

  it('reads nothing but whole certificates in trust bundles', async () => {
    const block = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    // A search for the end of each beginning would take the square of the length.
    const trustBundle = `${'-----BEGIN CERTIFICATE-----\n'.repeat(1000) + block}-----BEGIN CERTIFICATE-----\nBBBB\n`;
    const api = { send: async () => ({ spec: { trustBundle } }) } as unknown as ApiUser;
    const timers = { elapsed: () => 0 } as Timers;
    const objects = new ApiObjects(api, vendorNames('kubernetes', 'kubernetes'), timers, new AbortController().signal);
    assert.equal(await objects.trustBundle({ name: 'one' }), block);
  });

  it('asks for no other object than the one that a pod names, whatever the name', async () => {
    const paths: string[] = [];
    const api = {
      send: async (_method: string, path: string) => {
        paths.push(path);
        throw new ApiError(404, 'NotFound', 'no such object');
      },
    } as unknown as ApiUser;
    const timers = { elapsed: () => 0 } as Timers;
    const objects = new ApiObjects(api, vendorNames('kubernetes', 'kubernetes'), timers, new AbortController().signal);
    const pod = { metadata: { namespace: 'n', name: 'p' }, spec: {} } as Pod;
    const name = '../../m/secrets/x?watch=1#';
    await objects.secret('n', name);
    await objects.configMap('n', name);
    await objects.trustBundle({ name });
    await assert.rejects(objects.resolveClaim(pod, name, false), VolumeProblem);
    await assert.rejects(objects.secret('n', '..'), VolumeProblem);
    const encoded = encodeURIComponent(name);
    assert.deepEqual(paths, [
      `/api/v1/namespaces/n/secrets/${encoded}`,
      `/api/v1/namespaces/n/configmaps/${encoded}`,
      `/apis/certificates.k8s.io/v1/clustertrustbundles/${encoded}`,
      `/api/v1/namespaces/n/persistentvolumeclaims/${encoded}`,
    ]);
  });
});
