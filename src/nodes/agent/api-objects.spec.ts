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
});
