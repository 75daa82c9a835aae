import { missingLines, table } from '../summary.js';
import type { Note, Outcomes, Tally } from './tally.js';

/** The most names that people are shown for each reason; programs get more. */
const mostShown = 5;

/** The plan of an import for people. */
export function importPlanLines(tally: Tally): readonly string[] {
  const rows = tally.rows.map(([resource, { created, updated, existed, leftOut, failed }]) => [
    resource,
    ...[created, updated, existed, leftOut, failed].map(String),
  ]);
  return [
    ...table(['KIND', 'CREATE', 'UPDATE', 'THERE', 'LEFT OUT', "CAN'T"], withSum(rows)),
    ...reasonLines(tally),
    ...missingLines('Not taken:', tally.notTaken),
  ];
}

/** The result of an import, for people. */
export function importResultLines(tally: Tally): readonly string[] {
  const rows = tally.rows.map(([resource, { created, updated, existed, leftOut, failed }]) => [
    resource,
    ...[created, updated, existed, leftOut, failed].map(String),
  ]);
  return [
    ...table(['KIND', 'CREATED', 'UPDATED', 'THERE', 'LEFT OUT', 'FAILED'], withSum(rows)),
    ...reasonLines(tally),
    ...missingLines('Not taken:', tally.notTaken),
  ];
}

/** A plan or result for programs. */
export function tallyJson(tally: Tally): object {
  return {
    kinds: tally.rows.map(([resource, counts]: readonly [string, Outcomes]) => ({ resource, ...counts })),
    reasons: tally.reasons,
    notTaken: tally.notTaken,
    isComplete: !tally.hasFaults,
  };
}

function withSum(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const sum = ['', ...Array.from({ length: 5 }, (_, i) => rows.reduce((total, row) => total + Number(row[i + 1]), 0))];
  return [...rows, sum.map(String)];
}

function reasonLines(tally: Tally): readonly string[] {
  const lines = (title: string, notes: readonly Note[]) =>
    notes.length === 0 ? [] : ['', title, ...notes.map(noteLine)];
  return [
    ...lines(
      'Failed:',
      tally.reasons.filter(({ isFault }) => isFault),
    ),
    ...lines(
      'Otherwise than in the backup:',
      tally.reasons.filter(({ isFault }) => !isFault),
    ),
  ];
}

function noteLine({ resource, names, objects, why }: Note): string {
  const more = objects > mostShown ? ` and ${objects - mostShown} more` : '';
  return `  ${resource} ${names.slice(0, mostShown).join(', ')}${more}: ${why}`;
}
