import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The most files of one process. Loading what they import takes longer than running many of them. */
const mostTogether = 40;
/**
 * Folders whose tests start servers or programs, and the most files of a group. Small groups keep all CPUs busy until
 * the end.
 */
const mostOfFloor = new Map([
  ['dist/src/storage', 10],
  ['dist/src/tools', 12],
  ['dist/test/e2e', 6],
]);
/**
 * Files that share a running cluster (test/e2e/support/shared-cluster.ts): each further file in a group saves starting
 * a cluster.
 */
const mostOfCluster = 16;
const cluster = /\bsharedCluster\('(\w+)'\)/;
/**
 * A file with a top-level await can't be loaded within a suite, nor can a file that imports it. In a loop or a condition
 * at the top of a file, only the statements of the block itself count: functions inside may wait.
 */
const waitsAtTop =
  /^(?:(?:export )?(?:const|let) .*= )?\(?await |^for await |^(?:for|if|while|try)\b[^\n]*\n(?: {4}.*\n)*? {4}(?:[^ \n].* = )?\(?await /m;
const imported = /from '(\.[^']+)'/g;

/**
 * Groups test files that may run one after the other in one process: files that share a cluster, or files of one
 * folder, except for slow ones.
 *
 * @param files paths in the order they should start
 * @param root the folder that they are relative to
 * @param alone parts of the paths of files that get a process of their own
 * @returns lists of paths; a group has the position of its first file
 */
export function groupTestFiles(files, root, alone) {
  const waiting = new Map();
  const sharing = new Map();
  const kinds = new Map();
  for (const file of files) {
    const floor = file.split('/').slice(0, 3).join('/');
    const shared = clusterOf(join(root, file), sharing);
    const isAlone = alone.some((part) => file.includes(part)) || waits(join(root, file), waiting);
    const kind = isAlone ? file : (shared ?? floor);
    const most = shared === undefined ? (mostOfFloor.get(floor) ?? mostTogether) : mostOfCluster;
    const known = kinds.get(kind) ?? { most, members: [] };
    known.members.push(file);
    kinds.set(kind, known);
  }
  const places = new Map(files.map((file, at) => [file, at]));
  return [...kinds.values()]
    .flatMap(({ most, members }) => evenParts(members, most))
    .toSorted((a, b) => places.get(a[0]) - places.get(b[0]));
}

/** Splits a list into as few parts as have at most `most` members, all about as long. */
function evenParts(list, most) {
  const count = Math.ceil(list.length / most);
  const start = (part) => Math.round((part * list.length) / count);
  return Array.from({ length: count }, (_, part) => list.slice(start(part), start(part + 1)));
}

/** Whether the file, or a file for tests that it imports, has a top-level await. */
function waits(path, known) {
  return findIn(path, known, (text) => waitsAtTop.test(text) || undefined) === true;
}

/** The name of the cluster that the file, or a file for tests that it imports, shares with others. */
function clusterOf(path, known) {
  return findIn(path, known, (text) => cluster.exec(text)?.[1]);
}

/** The result of `look` for a file, or for a test helper that it imports; undefined if it finds nothing. */
function findIn(path, known, look) {
  if (known.has(path)) return known.get(path);
  known.set(path, undefined);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  let found = look(text);
  for (const [, name] of text.matchAll(imported)) {
    if (found !== undefined) break;
    const helper = join(dirname(path), name);
    if (/\/dist\/test\/|\/testing\//.test(helper)) found = findIn(helper, known, look);
  }
  known.set(path, found);
  return found;
}
