import { diffLines } from 'diff';

export interface DiffLine {
  readonly mark: '+' | '-' | ' ' | '…';
  readonly text: string;
}

const context = 3;
/**
 * How long a diff may take, in milliseconds: contents that differ everywhere would take long, and nobody reads the
 * outcome.
 */
const limitMs = 2000;

/** The changes from one content to another, with some lines around each. Empty when there are none. */
export function textDiff(before: string, after: string): readonly DiffLine[] {
  const changes = diffLines(before, after, { timeout: limitMs }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  const lines = changes.flatMap(({ value, added, removed }) =>
    linesOf(value).map((text): DiffLine => ({ mark: added ? '+' : removed ? '-' : ' ', text })),
  );
  const near = new Set<number>();
  for (const [index, { mark }] of lines.entries()) {
    if (mark === ' ') continue;
    for (let around = index - context; around <= index + context; around++) near.add(around);
  }
  if (near.size === 0) return [];
  const shown: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    if (near.has(index)) shown.push(line);
    else if (shown.at(-1)?.mark !== '…') shown.push({ mark: '…', text: '' });
  }
  return shown;
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
