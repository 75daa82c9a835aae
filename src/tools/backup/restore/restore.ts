import type { ApiObject } from '../../../base/machinery/api-object.js';
import { ApiFault } from '../cluster/api-fault.js';
import { collectionPath } from '../cluster/collection-path.js';
import { objectPath, type RestoreClient } from './past.js';
import { type RestorePlan, type RestoreStep, restoredObject } from './plan.js';

/** How a step ended. `unchecked`: a dry run can't check the step before an earlier one is done. */
export interface StepResult {
  readonly step: RestoreStep;
  readonly outcome: 'done' | 'unchecked' | 'failed' | 'none';
  readonly why?: string;
}

export interface RestoreDependencies {
  readonly client: RestoreClient;
  readonly plan: RestorePlan;
  readonly dryRun: boolean;
  readonly withStatus: boolean;
  readonly signal: AbortSignal;
}

/**
 * Carries out a plan. A failure is reported, and the other steps continue. Each write names the version of the object
 * that it replaces: nothing that changed since the plan was made is overwritten.
 */
export async function* restore(dependencies: RestoreDependencies): AsyncGenerator<StepResult> {
  /** Namespaces that a dry run only pretends to make. */
  const pretended = new Set<string>();
  /** The uids of what was restored already. */
  const restored = new Set<string | undefined>();
  for (const step of dependencies.plan.steps) {
    if (step.action === 'unchanged' || step.action === 'leave') {
      yield { step, outcome: 'none' };
      continue;
    }
    const { namespace, name = '' } = step.past.metadata;
    if (dependencies.dryRun && step.kind.namespaced && pretended.has(namespace ?? '')) {
      yield { step, outcome: 'unchecked', why: 'its namespace comes first' };
      continue;
    }
    try {
      const why = await write(dependencies, step);
      if (
        dependencies.dryRun &&
        step.action === 'create' &&
        step.kind.apiVersion === 'v1' &&
        step.kind.kind === 'Namespace'
      ) {
        pretended.add(name);
      }
      restored.add(step.present?.metadata.uid);
      yield { step, outcome: 'done', ...(why === undefined ? {} : { why }) };
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      if (error.reason === 'Conflict' && isControlled(step, restored)) {
        yield { step, outcome: 'done', why: 'the loop of its restored owner had changed it already' };
        continue;
      }
      yield { step, outcome: 'failed', why: error.message };
    }
  }
}

/**
 * Whether the controller of the object was restored before: its loop then brings the object to what the controller wants, as
 * it does with the replica sets of a deployment.
 */
function isControlled({ present }: RestoreStep, restored: ReadonlySet<string | undefined>): boolean {
  return (
    present?.metadata.ownerReferences?.some(({ controller, uid }) => controller === true && restored.has(uid)) ?? false
  );
}

async function write(dependencies: RestoreDependencies, step: RestoreStep): Promise<string | undefined> {
  const { client, plan, dryRun, signal } = dependencies;
  const { kind, past, present } = step;
  const query = dryRun ? '?fieldManager=plinth-restore&dryRun=All' : '?fieldManager=plinth-restore';
  const { object } = restoredObject(step, plan.uids);
  let written: ApiObject;
  let note: string | undefined;
  if (present === undefined) {
    try {
      const path = collectionPath(kind, kind.namespaced ? past.metadata.namespace : undefined);
      written = await client.send<ApiObject>('POST', `${path}${query}`, { body: object, signal });
    } catch (error) {
      if (!(error instanceof ApiFault) || error.reason !== 'AlreadyExists') throw error;
      // A controller has created the object already, for an owner that was restored before: service accounts, replica
      // sets, endpoints.
      written = await againstLoops(async () => {
        const other = await client.send<ApiObject>('GET', objectPath(kind, past.metadata), { signal });
        const body = restoredObject({ ...step, present: other }, plan.uids).object;
        return client.send<ApiObject>('PUT', `${objectPath(kind, past.metadata)}${query}`, { body, signal });
      });
      note = 'a loop had made it anew';
    }
  } else {
    written = await client.send<ApiObject>('PUT', `${objectPath(kind, past.metadata)}${query}`, {
      body: object,
      signal,
    });
  }
  if (!dryRun && past.metadata.uid !== undefined && written.metadata.uid !== undefined) {
    plan.uids.set(past.metadata.uid, written.metadata.uid);
  }
  if (dependencies.withStatus && !dryRun && kind.hasStatus && past.status !== undefined) {
    const body = { ...restoredObject({ ...step, present: written }, plan.uids).object, status: past.status };
    await client.send('PUT', `${objectPath(kind, past.metadata)}/status${query}`, { body, signal });
  }
  return note;
}

/** How many times to attempt a write of an object that a controller writes, too. */
const mostAttempts = 5;

/** Retries on conflicts: a controller may change the object between read and write. */
async function againstLoops<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof ApiFault) || error.reason !== 'Conflict' || attempt === mostAttempts) throw error;
    }
  }
}
