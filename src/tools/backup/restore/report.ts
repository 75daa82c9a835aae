import { resourceName } from '../format/lines.js';
import { printable } from '../format/printable.js';
import type { RestorePlan, RestoreStep } from './plan.js';
import type { StepResult } from './restore.js';

/** The plan for people: one line per object that differs, and how many there are of each kind of step. */
export function restorePlanLines({ version, steps, notSeen }: RestorePlan): string[] {
  const shown = steps.filter(({ action }) => action !== 'unchanged');
  const rows = shown.map((step) => [step.action, printable(nameOf(step)), printable(step.why ?? '')]);
  const lost = notSeen.map(({ what, why }) => ['not seen', printable(what), printable(why)]);
  const counts = (['create', 'update', 'unchanged', 'leave'] as const).map(
    (action) =>
      `${steps.filter((step) => step.action === action).length} to ${action === 'unchanged' ? 'keep' : action}`,
  );
  return [`As of version ${version}: ${counts.join(', ')}. Nothing is deleted.`, ...aligned([...rows, ...lost])];
}

/** The result, for people: only the steps that did not go as planned. */
export function restoreResultLines(results: readonly StepResult[], dryRun: boolean): string[] {
  const rows = results
    .filter(({ why }) => why !== undefined)
    .map(({ step, outcome, why = '' }) => [outcome, printable(nameOf(step)), printable(why)]);
  const done = results.filter(({ outcome }) => outcome === 'done').length;
  const failed = results.filter(({ outcome }) => outcome === 'failed').length;
  const unchecked = results.filter(({ outcome }) => outcome === 'unchecked').length;
  const summary = dryRun
    ? `Dry run: the server would take ${done}, refuse ${failed}${unchecked === 0 ? '' : `, and could not check ${unchecked}`}.`
    : `Restored ${done}${failed === 0 ? '' : `, failed ${failed}`}.`;
  return [...aligned(rows), summary];
}

/** The plan and its result, for programs. */
export function resultJson(plan: RestorePlan, results: readonly StepResult[], dryRun: boolean): object {
  return {
    version: plan.version,
    dryRun,
    objects: results.map(({ step, outcome, why }) => ({
      action: step.action,
      outcome,
      resource: resourceName(step.kind),
      ...(step.kind.namespaced ? { namespace: step.past.metadata.namespace } : {}),
      name: step.past.metadata.name,
      ...((why ?? step.why) === undefined ? {} : { why: why ?? step.why }),
    })),
    notSeen: plan.notSeen,
  };
}

function nameOf({ kind, past }: RestoreStep): string {
  const { namespace = '', name = '' } = past.metadata;
  return `${resourceName(kind)} ${kind.namespaced ? `${namespace}/` : ''}${name}`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd());
}
