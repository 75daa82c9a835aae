import { setTimeout as delay } from 'node:timers/promises';
import type { ApiResponse } from '../e2e/support/api-client.js';
import type { Random } from '../support/random.js';
import type { ObjectKey } from './history.js';
import { infoOf, versionOf } from './object-digest.js';
import type { Workbench } from './writers.js';

/** Random reads of random keys through random servers, until the signal is aborted. */
export async function read(bench: Workbench, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await bench.view.step(async () => {
      const kind = random.pick(bench.kinds);
      const key = { resource: kind.resource, namespace: random.pick(bench.namespaces), name: random.pick(bench.names) };
      await checkRead(bench, random.below(bench.view.size), key, `${kind.path(key.namespace)}/${key.name}`);
    });
    await delay(random.below(20));
  }
}

/**
 * Reads one object. Linearizable means: the answer, an object or none, was true at some moment between the newest
 * version that any client knew when the read began, and the end of the read.
 */
export async function checkRead(
  bench: Workbench,
  server: number,
  key: ObjectKey,
  path: string,
): Promise<ApiResponse | undefined> {
  const { view, history, follower, report } = bench;
  const from = view.observed;
  const answer = await view.send(server, 'GET', path, [200, 404]);
  if (answer === undefined || (answer.status !== 200 && answer.status !== 404)) return answer;
  const version = answer.status === 200 ? versionOf(answer.body) : undefined;
  const info = answer.status === 200 ? infoOf(answer.body) : undefined;
  if (version !== undefined) view.saw(version);
  follower.later(from, () => {
    if (from < history.horizon) {
      report.count('checks given up: too far in the past');
      return;
    }
    const evidence = { server, key, from, to: history.applied, version, state: history.at(key, from) };
    if (!history.wasBetween(key, version, from, history.applied)) {
      report.fail('read-fresh', 'a read shows what was not so while it ran', evidence);
      return;
    }
    const logged = version === undefined ? undefined : history.at(key, version);
    if (logged?.info.digest === info?.digest) report.pass('read-fresh');
    else report.fail('read-fresh', 'a read shows other content than the log', { ...evidence, logged, facts: info });
  });
  return answer;
}
