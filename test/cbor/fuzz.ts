import { spawnSync } from 'node:child_process';
import { CborError, decodeCbor, encodeCbor } from '../../src/base/machinery/cbor/index.js';
import { NestingError } from '../../src/base/machinery/json/nesting-error.js';
import type { Random } from '../support/random.js';

/** Reasons for which more is refused here than there, as docs/deviations.md has them. */
const ownRefusals = /invalid UTF-8|tag number 2[13] is not accepted|max depth|not a string|parsing time/;

const seeds = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { a: 'é', b: '' }, generation: 3, deletionTimestamp: null },
    spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }], ratio: 0.1, huge: 2 ** 40, ok: [true, false] },
  },
  { a: [1, -1, 1.5, 1e300, 255, 65_536, -(2 ** 33)], b: { c: { d: 'x'.repeat(70) } } },
].map((value) => encodeCbor(value));
const more = [
  'd9d9f7a2616101616202',
  'a2 61 61 d6 43 010203 61 62 c0 74 323031332d30332d32315432303a30343a30305a',
  'bf 61 61 9f 01 02 ff 61 62 5f 41 61 42 62 63 ff 61 63 7f 61 78 ff ff',
  '83 c1 1a 514b67b0 c1 fb 41d452d9ec200000 d864 f93e00',
  '85 3b7fffffffffffffff 1b7fffffffffffffff fa47c35000 fb3ff199999999999a f90001',
].map((hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex'));

/** The result of a comparison with the decoder of Kubernetes. */
export interface Comparison {
  readonly inputs: number;
  /** Inputs that both accept. */
  readonly accepted: number;
  readonly differences: readonly string[];
}

/** Decodes changed items here and by `program decode`, and compares. Throws for an error that is not a refusal. */
export function compareDecoders(program: string, count: number, random: Random): Comparison {
  const inputs = Array.from({ length: count }, () => mutated(random));
  const input = inputs.map((bytes) => bytes.toString('hex')).join('\n');
  const { stdout, status } = spawnSync(program, ['decode'], { input, encoding: 'utf8', maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`the program ended with ${status}`);
  const theirs = stdout.trimEnd().split('\n');
  if (theirs.length !== count) throw new Error(`${theirs.length} answers for ${count} inputs`);
  const differences: string[] = [];
  let accepted = 0;
  for (const [i, bytes] of inputs.entries()) {
    const their = theirs[i] as string;
    const [our, isRefused] = decoded(bytes);
    if (isRefused) {
      if (!their.startsWith('refused') && !ownRefusals.test(our))
        differences.push(`${bytes.toString('hex')}: ${our} / ${their}`);
    } else if (their.startsWith('refused') || our !== canonical(their)) {
      differences.push(`${bytes.toString('hex')}: ${our} / ${their}`);
    } else accepted++;
  }
  return { inputs: count, accepted, differences };
}

function decoded(bytes: Buffer): readonly [string, boolean] {
  try {
    return [canonical(JSON.stringify(decodeCbor(bytes))), false];
  } catch (error) {
    if (error instanceof CborError || error instanceof NestingError) return [error.message, true];
    throw error;
  }
}

/** The text with its keys in order, and each number in one spelling. */
function canonical(text: string): string {
  return JSON.stringify(sorted(JSON.parse(text)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, member]) => [key, sorted(member)]);
}

function mutated(random: Random): Buffer {
  const below = (limit: number) => random.below(limit);
  const all = [...seeds, ...more];
  let bytes: Buffer = Buffer.from(all[below(all.length)] as Buffer);
  for (let left = below(4); left > 0; left--) {
    const at = below(bytes.length);
    switch (below(5)) {
      case 0:
        bytes[at] = below(256);
        break;
      case 1:
        bytes[at] = (bytes[at] as number) ^ (1 << below(8));
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([0xc0 + below(64)]), bytes.subarray(at)]);
        break;
      default: {
        const other = all[below(all.length)] as Buffer;
        const from = below(other.length);
        bytes = Buffer.concat([bytes.subarray(0, at), other.subarray(from, from + below(12)), bytes.subarray(at)]);
      }
    }
    if (bytes.length === 0) bytes = Buffer.from([0xa0]);
  }
  return bytes;
}
