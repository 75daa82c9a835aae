import { structForm } from './struct-form.js';
import type { SchemaType } from './types.js';

/** Number of unchanged lines that are shown around a change. */
const context = 3;
/** Changed parts above this size are shown as replaced entirely: comparing them line by line takes too long. */
const maxCompared = 250_000;

/** Equal lines at two places; everything between two matches was replaced. */
interface Match {
  readonly before: number;
  readonly after: number;
  readonly length: number;
}

/**
 * The differences between two values of a type, as messages of the API's release show them: a unified diff of their
 * indented JSON in the form of {@link structForm}, each line with a line break. Empty when nothing differs, or the
 * values have no such form.
 */
export function structDiff(type: SchemaType, before: unknown, after: unknown): string {
  const forms = [structForm(type, before), structForm(type, after)];
  if (forms.includes(undefined)) return '';
  const [old = [], now = []] = forms.map(linesOf);
  return unifiedDiff(old, now);
}

function linesOf(form: unknown): string[] {
  const text = JSON.stringify(form, null, 1);
  return text.replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`).split('\n');
}

function unifiedDiff(old: readonly string[], now: readonly string[]): string {
  let text = '';
  for (const group of groupsOf(changesOf(old, now))) {
    const [first, last] = [group[0], group.at(-1)];
    if (first === undefined || last === undefined) continue;
    const lead = Math.min(context, first.before);
    const trail = Math.min(context, old.length - last.beforeEnd);
    const body: string[] = [];
    let at = first.before - lead;
    for (const { before, beforeEnd, after, afterEnd } of group) {
      for (const line of old.slice(at, before)) body.push(` ${line}`);
      for (const line of old.slice(before, beforeEnd)) body.push(`-${line}`);
      for (const line of now.slice(after, afterEnd)) body.push(`+${line}`);
      at = beforeEnd;
    }
    for (const line of old.slice(at, at + trail)) body.push(` ${line}`);
    const oldRange = rangeOf(first.before - lead, last.beforeEnd + trail);
    const newRange = rangeOf(first.after - lead, last.afterEnd + trail);
    text += `@@ -${oldRange} +${newRange} @@\n${body.join('\n')}\n`;
  }
  return text;
}

function rangeOf(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

interface Change {
  readonly before: number;
  readonly beforeEnd: number;
  readonly after: number;
  readonly afterEnd: number;
}

function changesOf(old: readonly string[], now: readonly string[]): Change[] {
  const changes: Change[] = [];
  let [before, after] = [0, 0];
  for (const match of [...matchesOf(old, now), { before: old.length, after: now.length, length: 0 }]) {
    if (match.before > before || match.after > after) {
      changes.push({ before, beforeEnd: match.before, after, afterEnd: match.after });
    }
    before = match.before + match.length;
    after = match.after + match.length;
  }
  return changes;
}

/** Groups changes whose surrounding lines overlap: they are shown together. */
function groupsOf(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change.before - last.beforeEnd <= 2 * context) groups.at(-1)?.push(change);
    else groups.push([change]);
  }
  return groups;
}

function matchesOf(old: readonly string[], now: readonly string[]): Match[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  ) {
    tail++;
  }
  const middle = commonLines(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  return [
    { before: 0, after: 0, length: head },
    ...middle.map(({ before, after }) => ({ before: before + head, after: after + head, length: 1 })),
    { before: old.length - tail, after: now.length - tail, length: tail },
  ];
}

/** The longest common subsequence of lines. */
function commonLines(old: readonly string[], now: readonly string[]): { before: number; after: number }[] {
  const width = now.length + 1;
  if ((old.length + 1) * width > maxCompared) return [];
  const lengths = new Uint16Array((old.length + 1) * width);
  const at = (i: number, k: number) => lengths[i * width + k] as number;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let k = now.length - 1; k >= 0; k--) {
      lengths[i * width + k] = old[i] === now[k] ? at(i + 1, k + 1) + 1 : Math.max(at(i + 1, k), at(i, k + 1));
    }
  }
  const common: { before: number; after: number }[] = [];
  for (let [i, k] = [0, 0]; i < old.length && k < now.length; ) {
    if (old[i] === now[k]) common.push({ before: i++, after: k++ });
    else if (at(i + 1, k) >= at(i, k + 1)) i++;
    else k++;
  }
  return common;
}
