import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRequestInfo } from '../endpoints/request-info/request-info.js';
import { totalWork } from './work.js';
import { estimateWork, type ResourceUsage, seatBounds } from './work-estimator.js';

const usage: ResourceUsage = { objects: 1000, isInMemory: true, watchers: 0 };
const bounds = { list: 20, mutating: 10 };

function estimate(method: string, url: string, known: Partial<ResourceUsage> = {}, within = bounds) {
  const [path = '', text = ''] = url.split('?');
  const query = new URLSearchParams(text);
  const info = parseRequestInfo(method, path, query);
  const { initialSeats, finalSeats, additionalLatencyMs } = estimateWork(
    info,
    query,
    () => ({ ...usage, ...known }),
    within,
  );
  return [initialSeats, finalSeats, additionalLatencyMs];
}

describe('the work of a request', () => {
  const pods = '/api/v1/namespaces/a/pods';
  const cases: readonly (readonly [string, string, Partial<ResourceUsage>, readonly number[]])[] = [
    ['GET', `${pods}/x`, {}, [1, 0, 0]],
    ['GET', '/version', {}, [1, 0, 0]],
    ['GET', pods, {}, [10, 0, 0]],
    ['GET', pods, { objects: undefined }, [1, 0, 0]],
    ['GET', pods, { objects: 20 }, [1, 0, 0]],
    ['GET', pods, { objects: 100_000 }, [20, 0, 0]],
    ['GET', pods, { isInMemory: false }, [20, 0, 0]],
    ['GET', `${pods}?limit=100`, {}, [1, 0, 0]],
    ['GET', `${pods}?limit=100`, { isInMemory: false }, [2, 0, 0]],
    ['GET', `${pods}?limit=100&labelSelector=a`, { isInMemory: false }, [11, 0, 0]],
    ['GET', `${pods}?labelSelector=a`, {}, [10, 0, 0]],
    ['GET', `${pods}?fieldSelector=metadata.name%3Dx`, {}, [1, 0, 0]],
    ['GET', `${pods}?labelSelector=!${'a'.repeat(20_000)}`, {}, [12, 0, 0]],
    ['GET', `${pods}?labelSelector=!${'a'.repeat(20_000)}`, { objects: undefined }, [2, 0, 0]],
    ['GET', `${pods}?watch=true&resourceVersion=7&fieldSelector=${'a'.repeat(50_000)}`, {}, [6, 0, 0]],
    ['DELETE', `${pods}?labelSelector=!${'a'.repeat(20_000)}`, { objects: 0 }, [2, 0, 0]],
    ['GET', `${pods}?limit=x`, {}, [10, 0, 0]],
    ['GET', `${pods}?watch=true`, {}, [10, 0, 0]],
    ['GET', `${pods}?watch=true&resourceVersion=7`, {}, [1, 0, 0]],
    ['GET', `${pods}?watch=true&resourceVersion=7&sendInitialEvents=true`, {}, [10, 0, 0]],
    ['GET', `${pods}?watch=true&sendInitialEvents=false`, {}, [1, 0, 0]],
    ['DELETE', pods, {}, [10, 0, 0]],
    ['POST', pods, {}, [1, 0, 0]],
    ['POST', pods, { watchers: 1 }, [1, 1, 5]],
    ['PUT', `${pods}/x`, { watchers: 25 }, [1, 3, 5]],
    ['PATCH', `${pods}/x`, { watchers: 100 }, [1, 10, 5]],
    // Above the maximum number of seats, the same work takes longer.
    ['DELETE', `${pods}/x`, { watchers: 1000 }, [1, 10, 50]],
    ['POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {}, [10, 0, 0]],
    ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { watchers: 100 }, [1, 0, 0]],
    ['POST', '/api/v1/namespaces/a/serviceaccounts/x/token', { watchers: 100 }, [1, 0, 0]],
  ];
  for (const [method, url, known, expected] of cases) {
    it(`${method} ${url.slice(0, 100)} ${JSON.stringify(known)}: ${expected.join(', ')}`, () => {
      assert.deepEqual(estimate(method, url, known), expected);
    });
  }

  it('is bounded by a part of the level', () => {
    assert.deepEqual(seatBounds(0), { list: 1, mutating: 1 });
    assert.deepEqual(seatBounds(49), { list: 8, mutating: 8 });
    assert.deepEqual(seatBounds(245), { list: 37, mutating: 10 });
    assert.deepEqual(seatBounds(10_000), { list: 100, mutating: 10 });
  });

  it('is counted in seat-seconds', () => {
    assert.equal(totalWork({ initialSeats: 10, finalSeats: 0, additionalLatencyMs: 0 }).toFixed(6), '0.030000');
    assert.equal(totalWork({ initialSeats: 1, finalSeats: 10, additionalLatencyMs: 5 }).toFixed(6), '0.053000');
  });
});
