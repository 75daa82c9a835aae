import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { Aggregation } from './aggregation.js';
import { BackendFault } from './backend-fault.js';
import { RemoteContent } from './remote-content.js';

type Answer = (method: string, path: string) => { readonly code?: number; readonly body?: unknown };

/** Deletes the content of a namespace on one server with these resources, each with `list` and `delete`. */
async function deleteFrom(resources: readonly string[], answer: Answer) {
  const asked: string[] = [];
  const backend = {
    headersAs: () => Promise.resolve({}),
    call: ({ method, path }: { method: string; path: string }) => {
      asked.push(`${method} ${path.replace('/apis/g/v1/namespaces/n/', '')}`);
      const { code = 200, body = {} } = answer(method, path);
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return Promise.resolve({
        kind: 'response',
        response: Object.assign(Readable.from([Buffer.from(text)]), { statusCode: code }),
      });
    },
  };
  const value = resources.map((resource) => ({ resource, scope: 'Namespaced', verbs: ['list', 'delete'] }));
  const remote = { name: 'v1.g', group: 'g', version: 'v1', isAvailable: true };
  const aggregation = {
    services: { remotes: () => [remote] },
    of: () => ({ backend, resources: { get: () => Promise.resolve({ value, isCurrent: true }) } }),
  };
  const content = new RemoteContent(aggregation as unknown as Aggregation, vendorNames('kubernetes', 'kubernetes'));
  const report = await content.delete('n', () => Promise.resolve(), new AbortController().signal);
  return { asked, report };
}

describe('what a server keeps in a namespace', () => {
  it('is deleted one by one, and what is left is counted', async () => {
    const items = [{ metadata: { name: 'a', finalizers: ['f', 5] } }, { metadata: { name: 'b/c', finalizers: ['f'] } }];
    const { asked, report } = await deleteFrom(['x'], () => ({ body: { metadata: { remainingItemCount: 3 }, items } }));
    assert.deepEqual(asked, ['GET x?limit=500', 'DELETE x/a', 'DELETE x/b%2Fc', 'GET x?limit=500']);
    assert.deepEqual(
      [...report.remaining, ...report.finalizers],
      [
        ['x.g', 5],
        ['f', 2],
      ],
    );
    assert.deepEqual(report.errors, []);
  });

  it('has no object without a name: its path would be that of all', async () => {
    const items = [{ metadata: { name: '' } }, {}, null, 7, { metadata: { name: 7 } }];
    const { asked, report } = await deleteFrom(['x'], () => ({
      body: { metadata: { remainingItemCount: 'many' }, items },
    }));
    assert.deepEqual(asked, ['GET x?limit=500', 'GET x?limit=500']);
    assert.equal(report.remaining.get('x.g'), 5);
  });

  for (const body of ['null', '[]', '7', '{"items":{}}', '{"items":"abc"}']) {
    it(`is nothing when the list is ${body}`, async () => {
      const { report } = await deleteFrom(['x'], () => ({ body }));
      assert.deepEqual([report.remaining.size, report.errors], [0, []]);
    });
  }

  it('is asked for no further once the server does not answer', async () => {
    const { asked, report } = await deleteFrom(['x', 'y', 'z'], () => {
      throw new BackendFault('timeout awaiting response headers');
    });
    assert.equal(asked.length, 1);
    assert.deepEqual(
      report.errors.map(({ message }) => message),
      ['timeout awaiting response headers'],
    );
  });

  it('is asked for further when the server only refuses', async () => {
    const { asked, report } = await deleteFrom(['x', 'y'], (_method, path) => ({
      code: path.includes('/x') ? 500 : 200,
    }));
    assert.deepEqual(asked, ['GET x?limit=500', 'GET y?limit=500', 'GET y?limit=500']);
    assert.match(String(report.errors[0]), /GET .*\/x\?limit=500: the extension server answered 500/);
  });

  it('is counted without holding up others, however much the server answers', async () => {
    const many = `${'{},'.repeat(1_500_000)}{}`;
    const first = `{"metadata":{"name":"a","finalizers":["f"],"other":[${'{},'.repeat(300_000)}{}]}}`;
    const body = `{"junk":{${'"k":1,'.repeat(100_000)}"k":1},"items":[${first},${many}]}`;
    let isOver = false;
    const deleting = deleteFrom(['x'], (method) => (method === 'GET' ? { body } : {})).finally(() => {
      isOver = true;
    });
    let longest = 0;
    for (let before = process.threadCpuUsage(); !isOver; before = process.threadCpuUsage()) {
      await nextRound();
      longest = Math.max(longest, process.threadCpuUsage(before).user / 1000);
    }
    const { asked, report } = await deleting;
    assert.deepEqual(asked, ['GET x?limit=500', 'DELETE x/a', 'GET x?limit=500']);
    assert.deepEqual(
      [...report.remaining, ...report.finalizers],
      [
        ['x.g', 1_500_002],
        ['f', 1],
      ],
    );
    assert.ok(longest < 100, `one round took ${longest} ms`);
  });

  it('is a failure when the list is no JSON', async () => {
    const { report } = await deleteFrom(['x'], () => ({ body: '{"items":[{]}' }));
    assert.equal(report.errors.length, 1);
  });
});
