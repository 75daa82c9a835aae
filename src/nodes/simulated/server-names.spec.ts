import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemTimers } from '../../base/machinery/timers.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import { namesOfServer } from './server-names.js';

type Answer = object | number;

/** Calls a server that gives these answers, one after another where there are several. */
async function ask(answers: Readonly<Record<string, readonly Answer[]>>) {
  const asked = new Map<string, number>();
  const warnings: string[] = [];
  const send = async (_method: string, path: string) => {
    const nth = asked.get(path) ?? 0;
    asked.set(path, nth + 1);
    const all = answers[path] ?? [404];
    const answer = all[Math.min(nth, all.length - 1)] as Answer;
    if (typeof answer === 'number') throw new ApiError(answer, '', `answer ${answer}`);
    return answer;
  };
  const logger = { info: () => undefined, warn: (text: string) => warnings.push(text) };
  const timers = { ...systemTimers, wait: async () => undefined, now: Date.now, elapsed: () => 0 };
  const names = await namesOfServer(
    { api: { send } as unknown as ApiUser, timers: timers as never, logger: logger as never },
    new AbortController().signal,
  );
  return { names, warnings };
}

describe('namesOfServer', () => {
  const groups = (...suffixes: string[]) => [
    { groups: suffixes.map((suffix) => ({ name: `coordination.${suffix}` })) },
  ];
  const upstream = '/api/v1/namespaces/kube-node-lease';
  const own = '/api/v1/namespaces/control-node-lease';

  it('finds the namespace of the leases', async () => {
    const compatible = await ask({ '/apis': groups('k8s.io'), [upstream]: [{}] });
    assert.deepEqual(compatible.names, vendorNames('k8s.io', 'kubernetes'));
    assert.deepEqual((await ask({ '/apis': groups('k8s.io'), [own]: [{}] })).names, vendorNames('k8s.io'));
    const vendor = await ask({ '/apis': groups('example.com'), [own]: [{}] });
    assert.deepEqual(vendor.names, vendorNames('example.com'));
  });

  it('waits for the namespace, and for a server that fails', async () => {
    const { names, warnings } = await ask({ '/apis': [503, ...groups('k8s.io')], [upstream]: [404, 404, {}] });
    assert.equal(names?.systemNamespace, 'kube-system');
    assert.equal(warnings.length, 1);
  });

  it('says so when it may not look', async () => {
    const { names, warnings } = await ask({ '/apis': groups('k8s.io'), [own]: [403] });
    assert.equal(names, undefined);
    assert.match(warnings[0] ?? '', /--compat kubernetes/);
  });
});
