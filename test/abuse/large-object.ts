import type { Random } from '../support/random.js';

type JsonObject = Record<string, unknown>;

const leastBytes = 60_000;
/** Somewhat above the limit of a body. */
const mostBytes = 3_300_000;

/** Members of one entry each, `count` of them. */
function entries(count: number, value: (i: number) => unknown): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, value(i)]));
}

function repeated(count: number, value: (i: number) => unknown): unknown[] {
  return Array.from({ length: count }, (_, i) => value(i));
}

/** The reason why an object is large, in about this many bytes; smaller sizes are as likely as larger ones. */
export function enlarge(random: Random, object: JsonObject): JsonObject {
  const bytes = Math.round(leastBytes * (mostBytes / leastBytes) ** random.next());
  const metadata = (object.metadata ?? {}) as JsonObject;
  // Large objects with names of their own would fill the database.
  const { generateName, ...named } = metadata;
  const withMetadata = (more: JsonObject) => ({
    ...object,
    metadata: { ...(generateName === undefined ? named : { ...named, name: 'c' }), ...more },
  });
  switch (random.below(13)) {
    case 0:
      return withMetadata({ labels: entries(bytes / 20, () => 'x') });
    case 1:
      return withMetadata({ labels: entries(bytes / 20, () => 'not valid!') });
    case 2:
      return withMetadata({ annotations: { a: 'x'.repeat(bytes) } });
    case 3:
      return withMetadata({ finalizers: repeated(bytes / 20, (i) => `example.com/${i}`) });
    case 4:
      return withMetadata({ ownerReferences: repeated(bytes / 60, (i) => ownerOf(i)) });
    case 5:
      return withMetadata({ managedFields: repeated(bytes / 120, (i) => managerOf(i)) });
    case 6:
      return withMetadata({ annotations: { a: 'ä\u0000"\\'.repeat(bytes / 12) } });
    case 7:
      return { ...withMetadata({}), unknown: nested(bytes / 12) };
    case 8:
      return { ...withMetadata({}), unknown: repeated(bytes / 8, (i) => ({ i })) };
    case 9:
      return { ...withMetadata({}), spec: widened(random, object.spec, bytes) };
    default:
      // Valid for kinds that have them, so later requests store, list and patch them.
      return { ...withMetadata({}), data: entries(Math.max(1, bytes / 50_000), () => 'eHh4'.repeat(12_500)) };
  }
}

const ownerOf = (i: number) => ({ apiVersion: 'v1', kind: 'Pod', name: `owner-${i}`, uid: `uid-${i}` });

const managerOf = (i: number) => ({
  manager: `manager-${i}`,
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { [`f:key-${i}`]: {} } },
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  // Nesting deeper than the sender can serialize is of no use.
  for (let i = Math.min(depth, 300); i > 0; i--) value = { a: [value] };
  return value;
}

/** Repeats the first member of one list within a value very often. */
function widened(random: Random, value: unknown, bytes: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const lists = Object.entries(value).filter(([, member]) => Array.isArray(member) && member.length > 0);
  if (lists.length > 0 && random.chance(0.7)) {
    const [key, list] = random.pick(lists) as [string, unknown[]];
    const size = JSON.stringify(list[0])?.length ?? 1;
    return { ...value, [key]: repeated(bytes / (size + 1), () => list[0]) };
  }
  const members = Object.entries(value);
  if (members.length === 0) return value;
  const [key, member] = random.pick(members);
  return { ...value, [key]: widened(random, member, bytes) };
}
