import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Most files of one process. Loading what they import takes longer than many of them do. */
const mostTogether = 12;
/** Floors whose tests start servers or programs. Groups of them leave work for all processors until the end. */
const mostOfFloor = new Map([
  ['dist/src/storage', 4],
  ['dist/src/tools', 4],
  ['dist/test/e2e', 3],
]);
/** A file that waits while it is loaded cannot be loaded within a suite, nor one that imports it. */
const waitsAtTop =
  /^(?:(?:export )?(?:const|let) .*= )?\(?await |^for await |^(?:for|if|while|try)\b[^\n]*\n(?: {4}.*\n)*? {4}.*\bawait /m;
const imported = /from '(\.[^']+)'/g;

/**
 * Groups test files that may run one after the other in one process: files of one floor, and not those that take long.
 *
 * @param files paths in the order they should start
 * @param root the folder that they are relative to
 * @param alone parts of the paths of files that get a process of their own
 * @returns lists of paths; a group stands where its first file stood
 */
export function groupTestFiles(files, root, alone) {
  const waiting = new Map();
  const groups = [];
  const open = new Map();
  for (const file of files) {
    if (alone.some((part) => file.includes(part)) || waits(join(root, file), waiting)) {
      groups.push([file]);
      continue;
    }
    const floor = file.split('/').slice(0, 3).join('/');
    let group = open.get(floor);
    if (group === undefined || group.length >= (mostOfFloor.get(floor) ?? mostTogether)) {
      group = [];
      open.set(floor, group);
      groups.push(group);
    }
    group.push(file);
  }
  return groups;
}

/** Whether the file, or a file for tests that it imports, waits while it is loaded. */
function waits(path, known) {
  const before = known.get(path);
  if (before !== undefined) return before;
  known.set(path, false);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const helpers = [...text.matchAll(imported)].map(([, name]) => join(dirname(path), name));
  const answer =
    waitsAtTop.test(text) ||
    helpers.some((helper) => /\/dist\/test\/|\/testing\//.test(helper) && waits(helper, known));
  known.set(path, answer);
  return answer;
}
