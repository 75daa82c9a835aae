import { setTimeout as delay } from 'node:timers/promises';
import type { ApiResponse } from '../e2e/support/api-client.js';
import type { Random } from '../support/random.js';
import type { ClusterView, WorkedKind } from './cluster-view.js';
import type { History, ObjectKey } from './history.js';
import type { Ledger, Outcome } from './ledger.js';
import type { LogReader } from './log-reader.js';
import { operationAnnotation, tierLabel, versionOf } from './object-digest.js';
import { checkRead } from './readers.js';
import type { Report } from './report.js';

/** The parts that the clients of a run use. */
export interface Workbench {
  readonly view: ClusterView;
  readonly history: History;
  readonly ledger: Ledger;
  readonly follower: LogReader;
  readonly report: Report;
  readonly kinds: readonly WorkedKind[];
  readonly namespaces: readonly string[];
  readonly names: readonly string[];
}

export const tiers = ['a', 'b', 'c'] as const;

interface Target {
  readonly kind: WorkedKind;
  readonly key: ObjectKey;
  readonly path: string;
}

/** Random writes to random keys through random servers, until the signal is aborted. */
export async function write(bench: Workbench, random: Random, signal: AbortSignal): Promise<void> {
  const writer = new Writer(bench, random);
  while (!signal.aborted) {
    await bench.view.step(() => writer.writeOnce());
    await delay(random.below(15));
  }
}

/** One client that writes. */
export class Writer {
  constructor(
    private readonly bench: Workbench,
    private readonly random: Random,
  ) {}

  async writeOnce(): Promise<void> {
    const { random, bench } = this;
    const kind = random.pick(bench.kinds);
    const key = { resource: kind.resource, namespace: random.pick(bench.namespaces), name: random.pick(bench.names) };
    const target = { kind, key, path: `${kind.path(key.namespace)}/${key.name}` };
    const server = random.below(bench.view.size);
    const dice = random.below(100);
    if (dice < 25) await this.create(server, target);
    else if (dice < 40) await this.replace(server, target, false);
    else if (dice < 58) await this.replace(server, target, true);
    else if (dice < 80) await this.patch(server, target);
    else if (dice < 86) await this.changeNothing(server, target);
    else await this.remove(server, target);
  }

  /** Creates an object through one server; returns its version if the create was acknowledged. */
  async create(server: number, target: Target): Promise<number | undefined> {
    const operation = this.bench.ledger.issue();
    const body = this.state(target, operation);
    const answer = await this.bench.view.send(server, 'POST', target.kind.path(target.key.namespace), [201, 409], {
      body,
    });
    return this.settle(operation, server, target, answer);
  }

  private async replace(server: number, target: Target, conditional: boolean): Promise<void> {
    const { view, ledger } = this.bench;
    let resourceVersion: number | undefined;
    if (conditional) {
      resourceVersion = await this.currentVersion(server, target);
      if (resourceVersion === undefined) return;
    }
    const operation = ledger.issue();
    const state = this.state(target, operation);
    const metadata = { ...state.metadata, ...(conditional ? { resourceVersion: String(resourceVersion) } : {}) };
    // The write goes through any server, not only the one of the read.
    const through = this.random.below(view.size);
    const answer = await view.send(through, 'PUT', target.path, [200, 404, 409], { body: { ...state, metadata } });
    this.settle(operation, through, target, answer, resourceVersion);
  }

  private async patch(server: number, target: Target): Promise<void> {
    const operation = this.bench.ledger.issue();
    const body = { ...this.labelled(operation), ...target.kind.change(operation) };
    const answer = await this.bench.view.send(server, 'PATCH', target.path, [200, 404, 409], {
      body,
      contentType: 'application/merge-patch+json',
    });
    this.settle(operation, server, target, answer);
  }

  /** A patch without effect: it is answered like a read, and makes no version. */
  private async changeNothing(server: number, target: Target): Promise<void> {
    const { view, history, follower, report } = this.bench;
    const from = view.observed;
    const answer = await view.send(server, 'PATCH', target.path, [200, 404, 409], {
      body: { metadata: { labels: {} } },
      contentType: 'application/merge-patch+json',
    });
    if (answer?.status !== 200) return;
    const version = versionOf(answer.body);
    view.saw(version);
    follower.later(from, () => {
      const evidence = { key: target.key, version, from, applied: history.applied, server };
      if (from < history.horizon) report.count('checks given up: too far in the past');
      else if (history.wasBetween(target.key, version, from, history.applied)) report.pass('no-op');
      else report.fail('no-op', 'a write that changes nothing was answered with a version of no entry', evidence);
    });
  }

  private async remove(server: number, target: Target): Promise<void> {
    const { view, history, ledger, follower } = this.bench;
    const conditional = this.random.chance(0.4);
    let resourceVersion: number | undefined;
    if (conditional) {
      resourceVersion = await this.currentVersion(server, target);
      if (resourceVersion === undefined) return;
    }
    const body = conditional ? { preconditions: { resourceVersion: String(resourceVersion) } } : undefined;
    const before = view.observed;
    const answer = await view.send(server, 'DELETE', target.path, [200, 404, 409], { body });
    if (answer?.status !== 200) return;
    const uid = answer.body.kind === 'Status' ? answer.body.details?.uid : answer.body.metadata?.uid;
    follower.later(before, () => ledger.settleDelete(history, target.key, uid, resourceVersion, { server }));
  }

  private async currentVersion(server: number, target: Target): Promise<number | undefined> {
    const answer = await checkRead(this.bench, server, target.key, target.path);
    return answer?.status === 200 ? versionOf(answer.body) : undefined;
  }

  private labelled(operation: number) {
    return {
      metadata: {
        labels: { [tierLabel]: this.random.pick(tiers) },
        annotations: { [operationAnnotation]: String(operation) },
      },
    };
  }

  private state({ kind, key }: Target, operation: number) {
    const { metadata } = this.labelled(operation);
    return { ...kind.make(operation), metadata: { name: key.name, namespace: key.namespace, ...metadata } };
  }

  private settle(
    operation: number,
    server: number,
    target: Target,
    answer: ApiResponse | undefined,
    follows?: number,
  ): number | undefined {
    const outcome = outcomeOf(answer, follows);
    if (outcome.kind === 'acknowledged') this.bench.view.saw(outcome.version);
    const { ledger, follower, history } = this.bench;
    follower.later(history.applied, () => ledger.settle(operation, outcome, { server, key: target.key }));
    return outcome.kind === 'acknowledged' ? outcome.version : undefined;
  }
}

/**
 * The outcome in an answer to a write: 503 promises that nothing was written; 504 and a broken connection leave it
 * open.
 */
function outcomeOf(answer: ApiResponse | undefined, follows: number | undefined): Outcome {
  if (answer === undefined) return { kind: 'unknown', why: 'connection broken' };
  if (answer.status === 200 || answer.status === 201) {
    return { kind: 'acknowledged', version: versionOf(answer.body), follows };
  }
  if (answer.status >= 500 && answer.status !== 503) return { kind: 'unknown', why: String(answer.status) };
  return { kind: 'refused', status: answer.status };
}
