import { dig, entriesAt, numberAt, textAt } from './dig.js';
import { nodeState } from './object-state.js';
import type { State } from './pod-state.js';
import { type Tone, toneOfShare, toneOfWord } from './status.js';
import type { Column, Row } from './table.js';

/** Pods of one owner that have the same problem. */
export interface PodProblem {
  readonly namespace: string;
  /** What the pods belong to, such as `ReplicaSet/web-5d9`; the pod itself where it belongs to nothing. */
  readonly owner: string;
  /** The word of the status column. */
  readonly word: string;
  readonly tone: Tone;
  readonly restarts: number;
  /** The names of the pods, the oldest first. */
  readonly pods: readonly string[];
  /** When the oldest of them was created. */
  readonly since: string;
}

/** How many pods stand how. */
export interface PodCounts {
  readonly total: number;
  readonly byTone: Readonly<Record<Tone, number>>;
}

const severity: Readonly<Record<Tone, number>> = { bad: 0, warn: 1, busy: 2, idle: 3, good: 4 };

/** A pod that starts needs a while; only after this its start is a problem, in milliseconds. */
const startMs = 60_000;

/** The state of a pod, by its row in a table. */
export function toneOfPod(status: string, ready: string): Tone {
  const tone = toneOfWord(status) ?? (status === '' ? 'idle' : 'warn');
  if (tone !== 'good') return tone;
  return toneOfShare(ready) === 'good' ? 'good' : 'warn';
}

/** Pods that do not run as they should, by owner, the worst first. */
export function podProblems(columns: readonly Column[], rows: readonly Row[], now: number): readonly PodProblem[] {
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const [status, ready, restarts] = [at('Status'), at('Ready'), at('Restarts')];
  const found = new Map<string, { -readonly [Field in keyof PodProblem]: PodProblem[Field] } & { pods: string[] }>();
  for (const row of rows) {
    const word = row.cells[status] ?? '';
    const tone = toneOfPod(word, row.cells[ready] ?? '');
    if (tone === 'good' || tone === 'idle') continue;
    // Neither pods that just began nor those that are about to end are a problem.
    const isYoung = now - Date.parse(row.created) < startMs;
    if (tone !== 'bad' && isYoung) continue;
    if (word === 'Terminating' && !isYoung) continue;
    const owner = row.owner || `Pod/${row.name}`;
    const shown = tone === 'warn' && word === 'Running' ? 'Not ready' : word;
    const key = `${row.namespace} ${owner} ${shown}`;
    const again = Number.parseInt(row.cells[restarts] ?? '0', 10) || 0;
    const known = found.get(key);
    if (known === undefined) {
      const { namespace, name, created } = row;
      found.set(key, { namespace, owner, word: shown, tone, restarts: again, pods: [name], since: created });
    } else {
      known.pods.push(row.name);
      known.restarts += again;
      if (row.created < known.since) known.since = row.created;
    }
  }
  return [...found.values()].sort(
    (a, b) => severity[a.tone] - severity[b.tone] || b.restarts - a.restarts || (a.since < b.since ? -1 : 1),
  );
}

export function countPods(columns: readonly Column[], rows: readonly Row[]): PodCounts {
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const [status, ready] = [at('Status'), at('Ready')];
  const byTone = { good: 0, busy: 0, warn: 0, bad: 0, idle: 0 };
  for (const { cells } of rows) byTone[toneOfPod(cells[status] ?? '', cells[ready] ?? '')]++;
  return { total: rows.length, byTone };
}

/** How many rows have all replicas that they should have, by the column `Ready`. */
export function countReady(columns: readonly Column[], rows: readonly Row[]): number {
  const ready = columns.findIndex(({ name }) => name === 'Ready');
  return rows.filter(({ cells }) => ['good', 'idle'].includes(toneOfShare(cells[ready] ?? '') ?? '')).length;
}

export interface NodeProblem {
  readonly name: string;
  readonly state: State;
}

/** Nodes that are not ready, under pressure or cordoned. */
export function nodeProblems(nodes: readonly unknown[]): readonly NodeProblem[] {
  return nodes
    .map((node) => ({ name: textAt(node, 'metadata', 'name'), state: nodeState(node) }))
    .filter(({ state }) => state.tone !== 'good')
    .sort((a, b) => severity[a.state.tone] - severity[b.state.tone]);
}

export interface QuotaProblem {
  readonly namespace: string;
  readonly name: string;
  readonly resource: string;
  readonly used: string;
  readonly most: string;
  /** The share that is used, from 0. */
  readonly share: number;
}

/** The share of a quota from which on it is worth a look. */
const nearEnd = 0.8;

/** Quotas that are nearly used up, the fullest first. */
export function quotaProblems(quotas: readonly unknown[]): readonly QuotaProblem[] {
  return quotas
    .flatMap((quota) =>
      entriesAt(quota, 'status', 'hard').map(([resource, most]) => {
        const used = textAt(quota, 'status', 'used', resource) || '0';
        const [has, may] = [amountOf(used), amountOf(most)];
        const share = may > 0 ? has / may : has > 0 ? 1 : 0;
        const [namespace, name] = [textAt(quota, 'metadata', 'namespace'), textAt(quota, 'metadata', 'name')];
        return { namespace, name, resource, used, most, share };
      }),
    )
    .filter(({ share }) => share >= nearEnd)
    .sort((a, b) => b.share - a.share);
}

const units: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** A quantity as a number, near enough to compare two; NaN for a text that is none. */
export function amountOf(quantity: string): number {
  const parts = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([a-zA-Z]{0,2})$/.exec(quantity);
  const unit = parts?.[2] ?? '';
  return parts === null || !Object.hasOwn(units, unit) ? Number.NaN : Number(parts[1]) * (units[unit] ?? 1);
}

/** Warnings of one reason about one object. */
export interface Warning {
  readonly key: string;
  readonly namespace: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly last: string;
}

/** Events of warning, the newest first, those of one object and reason as one. */
export function warningsOf(events: readonly unknown[]): readonly Warning[] {
  const found = new Map<string, Warning>();
  for (const event of events) {
    const about = dig(event, 'involvedObject');
    const [namespace, kind, name] = [textAt(about, 'namespace'), textAt(about, 'kind'), textAt(about, 'name')];
    const reason = textAt(event, 'reason');
    const key = `${namespace} ${kind} ${name} ${reason}`;
    const last = lastTime(event);
    const count = numberAt(event, 'series', 'count') || numberAt(event, 'count') || 1;
    const known = found.get(key);
    const isNewer = known === undefined || last > known.last;
    found.set(key, {
      ...{ key, namespace, kind, apiVersion: textAt(about, 'apiVersion'), name, reason },
      message: isNewer ? textAt(event, 'message') : known.message,
      count: count + (known?.count ?? 0),
      last: isNewer ? last : known.last,
    });
  }
  return [...found.values()].sort((a, b) => (a.last < b.last ? 1 : a.last > b.last ? -1 : 0));
}

/** When an event happened last, in whichever of its fields that stands. */
export function lastTime(event: unknown): string {
  return (
    textAt(event, 'series', 'lastObservedTime') ||
    textAt(event, 'lastTimestamp') ||
    textAt(event, 'eventTime') ||
    textAt(event, 'firstTimestamp') ||
    textAt(event, 'metadata', 'creationTimestamp')
  );
}
