import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Timers } from '../../base/machinery/timers.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { ApiError, type ApiUser } from '../connection/api-connection.js';
import { ApiObjects } from './api-objects.js';

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
        return path.includes('?') ? { items: [bundle('a', 'b'), bundle('b', 'c')] } : bundle('a');
      },
    } as unknown as ApiUser;
    const timers = { elapsed: () => 0 } as Timers;
    const objects = new ApiObjects(api, vendorNames('kubernetes', 'kubernetes'), timers, new AbortController().signal);
    const all = (...texts: string[]) => texts.map((text) => `${pem(text)}\n`).join('');
    assert.equal(await objects.trustBundle({ name: 'one' }), all('a'));
    assert.equal(await objects.trustBundle({ signerName: 's/n', labelSelector: {} }), all('a', 'b', 'c'));
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
});
