import { createHash, type Hash } from 'node:crypto';
import { ObjectSerializer } from '@kubernetes/client-node/dist/serializer.js';
import type { ApiClient } from '../e2e/support/api-client.js';

/** The data of an object in a list, as main.go prints it. */
export interface ReadObject {
  readonly reader: string;
  readonly resource: string;
  /** Uid and version. */
  readonly state: string;
  readonly hash: string;
  /** The hashed text, if it is at hand. */
  readonly text?: string;
}

interface Item {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
}

interface Discovered {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/**
 * Lists every kind as programs in JavaScript do, and gives the lists to the classes of the official client. `failures`
 * receives what can't be read.
 */
export async function readJavascript(client: ApiClient, failures: string[]): Promise<ReadObject[]> {
  const found: ReadObject[] = [];
  for (const { group, version, path } of await versions(client)) {
    const { resources } = (await client.get(path)).body as { resources: readonly Discovered[] };
    for (const { name, kind, verbs } of resources) {
      if (name.includes('/') || !verbs.includes('list')) continue;
      const resource = `${group}/${version}/${name}`;
      try {
        const { text, status } = await client.get(`${path}/${name}`);
        if (status !== 200) throw new Error(text);
        const { items } = parse(text) as { items: readonly Item[] };
        for (const item of items) {
          const { uid, resourceVersion } = item.metadata;
          found.push({ reader: 'javascript', resource, state: `${uid}@${resourceVersion}`, hash: hashOf(item) });
        }
        const type = `${version.replace(/^v/, 'V')}${kind}List`;
        if (group === '' || group.endsWith('.k8s.io') || !group.includes('.')) {
          ObjectSerializer.deserialize(JSON.parse(text), type);
        }
      } catch (error) {
        failures.push(`javascript ${resource}: ${String(error).slice(0, 500)}`);
      }
    }
  }
  return found;
}

async function versions(client: ApiClient): Promise<{ group: string; version: string; path: string }[]> {
  const { groups } = (await client.get('/apis')).body as {
    groups: readonly { name: string; versions: readonly { version: string; groupVersion: string }[] }[];
  };
  return [
    { group: '', version: 'v1', path: '/api/v1' },
    ...groups.flatMap(({ name, versions: served }) =>
      served.map(({ version, groupVersion }) => ({ group: name, version, path: `/apis/${groupVersion}` })),
    ),
  ];
}

type Reviver = (key: string, value: unknown, context: { readonly source: string }) => unknown;

const exact: Reviver = (_key, value, { source }) => {
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) throw new SyntaxError(`${source} is beyond all doubles`);
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
};

/** JSON with whole numbers as bigints. */
export function parse(text: string): unknown {
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

/** The hash of an object without its kind and version: see hash.go. */
export function hashOf(item: object): string {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = item as Record<string, unknown>;
  const sum = createHash('sha256');
  add(sum, rest);
  return sum.digest('hex').slice(0, 24);
}

function add(sum: Hash, value: unknown): void {
  if (value === null) sum.update('n');
  else if (typeof value === 'boolean') sum.update(value ? 't' : 'f');
  else if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new Error('a lone surrogate');
    sum.update(`s${Buffer.byteLength(value)}:${value}`);
  } else if (typeof value === 'number' || typeof value === 'bigint') addNumber(sum, value);
  else if (Array.isArray(value)) {
    sum.update('[');
    for (const item of value) add(sum, item);
    sum.update(']');
  } else {
    const members = Object.entries(value as object).map(([key, member]) => [Buffer.from(key), key, member] as const);
    members.sort(([a], [b]) => a.compare(b));
    sum.update('{');
    for (const [, key, member] of members) {
      add(sum, key);
      add(sum, member);
    }
    sum.update('}');
  }
}

function addNumber(sum: Hash, value: number | bigint): void {
  const whole = typeof value === 'bigint' ? value : Number.isInteger(value) ? BigInt(value) : undefined;
  if (whole !== undefined && BigInt.asIntN(64, whole) === whole) sum.update(`i${whole};`);
  else {
    const bits = Buffer.alloc(8);
    bits.writeDoubleBE(Number(value));
    sum.update(`d${bits.toString('hex')};`);
  }
}
