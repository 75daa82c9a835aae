import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { planRestore, type RestorePlan, type RestoreScope, type RestoreStep } from '../../backup/restore/plan.js';
import { restore, type StepResult } from '../../backup/restore/restore.js';
import { RestoreRequests, restorableKinds } from './restore-client.js';
import { kinds, liveApi, loadKinds } from './session.js';

/** What the server answered to the last run, so far. */
export interface RestoreResults {
  readonly isDryRun: boolean;
  readonly of: ReadonlyMap<RestoreStep, StepResult>;
}

/** A restore, from its plan to its end. */
export interface RestoreRun {
  /** Undefined while it is made. */
  readonly plan: RestorePlan | undefined;
  /** What went wrong as a whole; empty: nothing. */
  readonly problem: string;
  /** The steps that change something, and those of them that the user has not left out. */
  readonly work: readonly RestoreStep[];
  readonly chosen: readonly RestoreStep[];
  readonly tried: RestoreResults | undefined;
  readonly isBusy: boolean;
  /** Whether a dry run of all chosen steps has ended. */
  readonly isChecked: boolean;
  /** Whether the restore itself has ended. */
  readonly isDone: boolean;
  /** How many steps of the last run failed. */
  readonly failed: number;
  start(isDryRun: boolean): void;
  /** Leaves a step out, or takes it in again. */
  flip(step: RestoreStep): void;
}

/** Plans a restore of the scopes to a version, and runs it when asked to. */
export function useRestore(scopes: () => readonly RestoreScope[], version: string): RestoreRun {
  const plan = useSignal<RestorePlan | undefined>(undefined);
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const left = useSignal<ReadonlySet<RestoreStep>>(new Set());
  const results = useSignal<RestoreResults | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    planRestore({
      client: new RestoreRequests(liveApi),
      kinds: restorableKinds(kinds.value?.all ?? []),
      scopes: scopes(),
      version,
      signal: stop.signal,
    }).then(
      (made) => {
        plan.value = made;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) problem.value = (error as Error).message;
      },
    );
    return () => stop.abort();
  }, []);
  const work = (plan.value?.steps ?? []).filter(({ action }) => action === 'create' || action === 'update');
  const chosen = work.filter((step) => !left.value.has(step));
  const run = async (isDryRun: boolean) => {
    const made = plan.value;
    if (made === undefined || isBusy.value) return;
    isBusy.value = true;
    try {
      for await (const of of runSteps({ ...made, steps: chosen }, isDryRun)) results.value = { isDryRun, of };
      if (!isDryRun) void loadKinds().catch(() => {});
    } catch (error) {
      problem.value = (error as Error).message;
    } finally {
      isBusy.value = false;
    }
  };
  const tried = results.value;
  return {
    ...{ plan: plan.value, problem: problem.value, work, chosen, tried, isBusy: isBusy.value },
    isChecked: tried?.isDryRun === true && chosen.every((step) => tried.of.has(step)) && !isBusy.value,
    isDone: tried?.isDryRun === false && !isBusy.value,
    failed: [...(tried?.of.values() ?? [])].filter(({ outcome }) => outcome === 'failed').length,
    start: (isDryRun) => void run(isDryRun),
    flip: (step) => {
      const next = new Set(left.value);
      if (!next.delete(step)) next.add(step);
      left.value = next;
      results.value = undefined;
    },
  };
}

/** Runs the steps of a plan; yields all results so far after each step. */
async function* runSteps(plan: RestorePlan, dryRun: boolean): AsyncGenerator<ReadonlyMap<RestoreStep, StepResult>> {
  const found = new Map<RestoreStep, StepResult>();
  const client = new RestoreRequests(liveApi);
  const signal = new AbortController().signal;
  for await (const result of restore({ client, plan, dryRun, withStatus: false, signal })) {
    found.set(result.step, result);
    yield new Map(found);
  }
}
