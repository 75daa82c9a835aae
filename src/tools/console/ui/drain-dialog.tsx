import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type DrainPlan, drainPlan, drainWarnings, evictRequest } from './actions.js';
import { ApiFault } from './api-fault.js';
import { Skeleton } from './blank.js';
import { Dialog } from './dialog.js';
import { textAt } from './dig.js';
import { waitInBrowser } from './follow.js';
import { pathOf } from './kinds.js';
import { sendAction } from './send-action.js';
import { api } from './session.js';
import { StatusText } from './status-badge.js';
import type { ApiObject } from './yaml-text.js';

const podKind = { group: '', version: 'v1', resource: 'pods' };
/** A disruption budget may allow it later: how long to wait before the next try. */
const retryMs = 5000;

type Progress = 'waiting' | 'evicted' | 'held back' | 'failed';

interface DrainDialogProps {
  readonly path: string;
  readonly node: ApiObject;
  readonly close: () => void;
}

/** Cordons a node and evicts its pods one after another, with what disruption budgets allow. */
export function DrainDialog({ path, node, close }: DrainDialogProps) {
  const { name } = node.metadata;
  const { plan, progress, problem, phase, start } = useDrain(path, name);
  return (
    <Dialog title={`Drain ${name}`} close={close}>
      {plan === undefined && problem === '' && <Skeleton lines={4} />}
      {plan !== undefined && <DrainedPods plan={plan} progress={progress} isAsking={phase === 'asking'} />}
      <p role="alert" class="problem">
        {problem}
      </p>
      <p class="actions">
        {phase !== 'done' && (
          <button
            type="button"
            class="danger solid"
            aria-disabled={phase !== 'asking' || plan === undefined}
            onClick={start}
          >
            Drain
          </button>
        )}
        <button type="button" onClick={close}>
          {phase === 'draining' ? 'Stop' : phase === 'done' ? 'Close' : 'Cancel'}
        </button>
      </p>
    </Dialog>
  );
}

/** How far each pod is, by namespace and name. */
type DrainProgress = ReadonlyMap<string, { readonly state: Progress; readonly why: string }>;

interface Drain {
  /** Undefined while the pods are read. */
  readonly plan: DrainPlan | undefined;
  readonly progress: DrainProgress;
  readonly problem: string;
  readonly phase: 'asking' | 'draining' | 'done';
  readonly start: () => void;
}

/** Reads the pods of a node, and drains it when asked to; ends with the component. */
function useDrain(path: string, name: string | undefined): Drain {
  const plan = useSignal<DrainPlan | undefined>(undefined);
  const progress = useSignal<DrainProgress>(new Map());
  const problem = useSignal('');
  const phase = useSignal<Drain['phase']>('asking');
  const stop = useRef(new AbortController());
  useEffect(() => {
    const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${name}`, limit: '1000' });
    api.json<{ readonly items?: readonly unknown[] }>(`${pathOf(podKind, '')}?${query}`).then(
      ({ items = [] }) => {
        plan.value = drainPlan(items);
      },
      (error: unknown) => {
        problem.value = (error as Error).message;
      },
    );
    return () => stop.current.abort();
  }, [name]);
  const note = (pod: string, state: Progress, why = '') => {
    progress.value = new Map([...progress.value, [pod, { state, why }]]);
  };
  const start = async () => {
    if (plan.value === undefined || phase.value !== 'asking') return;
    phase.value = 'draining';
    try {
      const contentType = 'application/merge-patch+json';
      await sendAction({ method: 'PATCH', path, contentType, body: { spec: { unschedulable: true } } });
      for (const pod of plan.value.evicted) await evict(pod, note, stop.current.signal);
    } catch (error) {
      problem.value = (error as Error).message;
    }
    phase.value = 'done';
  };
  return {
    ...{ plan: plan.value, progress: progress.value, problem: problem.value, phase: phase.value },
    start: () => void start(),
  };
}

interface DrainedPodsProps {
  readonly plan: DrainPlan;
  readonly progress: DrainProgress;
  /** Whether the user still has to agree. */
  readonly isAsking: boolean;
}

/** The pods that go, each with its progress, and those that stay. */
function DrainedPods({ plan: { evicted, staying }, progress, isAsking }: DrainedPodsProps) {
  return (
    <>
      <p>
        The node gets no new pods, and {evicted.length} of its pods are evicted
        {staying.length > 0 && `; ${staying.length} stay`}.
      </p>
      {isAsking &&
        drainWarnings(evicted).map((warning) => (
          <p key={warning} class="warned">
            <StatusText tone="warn" text={warning} />
          </p>
        ))}
      <ul class="names">
        {evicted.map((pod) => {
          const key = keyOf(pod);
          const { state = 'waiting', why = '' } = progress.get(key) ?? {};
          return (
            <li key={key}>
              <StatusText tone={tones[state]} text={state} /> {key} <span class="problem">{why}</span>
            </li>
          );
        })}
        {staying.map(({ name: pod, why }) => (
          <li key={pod} class="quiet">
            <StatusText tone="idle" text="stays" /> {pod}: {why}
          </li>
        ))}
      </ul>
    </>
  );
}

const tones = { waiting: 'idle', evicted: 'good', 'held back': 'warn', failed: 'bad' } as const;

function keyOf(pod: unknown): string {
  return `${textAt(pod, 'metadata', 'namespace')}/${textAt(pod, 'metadata', 'name')}`;
}

/** Evicts a pod, and tries again while a disruption budget holds it back (429). */
async function evict(
  pod: unknown,
  note: (pod: string, state: Progress, why?: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(pod);
  const path = pathOf(podKind, textAt(pod, 'metadata', 'namespace'), textAt(pod, 'metadata', 'name'));
  while (!signal.aborted) {
    try {
      await sendAction(evictRequest(path, pod));
      note(key, 'evicted');
      return;
    } catch (error) {
      const code = error instanceof ApiFault ? error.code : 0;
      if (code === 404) {
        note(key, 'evicted');
        return;
      }
      if (code !== 429) {
        note(key, 'failed', (error as Error).message);
        return;
      }
      note(key, 'held back', (error as Error).message);
      await waitInBrowser(retryMs, signal);
    }
  }
}
