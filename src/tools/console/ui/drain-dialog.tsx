import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type DrainPlan, drainPlan, drainWarnings, evictRequest } from './actions.js';
import { ApiFault } from './api.js';
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
  const plan = useSignal<DrainPlan | undefined>(undefined);
  const progress = useSignal<ReadonlyMap<string, { readonly state: Progress; readonly why: string }>>(new Map());
  const problem = useSignal('');
  const phase = useSignal<'asking' | 'draining' | 'done'>('asking');
  const stop = useRef(new AbortController());
  const { name } = node.metadata;
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
  const { evicted = [], staying = [] } = plan.value ?? {};
  return (
    <Dialog title={`Drain ${name}`} close={close}>
      {plan.value === undefined && problem.value === '' && <Skeleton lines={4} />}
      {plan.value !== undefined && (
        <>
          <p>
            The node gets no new pods, and {evicted.length} of its pods are evicted
            {staying.length > 0 && `; ${staying.length} stay`}.
          </p>
          {phase.value === 'asking' &&
            drainWarnings(evicted).map((warning) => (
              <p key={warning} class="warned">
                <StatusText tone="warn" text={warning} />
              </p>
            ))}
          <ul class="names">
            {evicted.map((pod) => {
              const key = keyOf(pod);
              const { state = 'waiting', why = '' } = progress.value.get(key) ?? {};
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
      )}
      <p role="alert" class="problem">
        {problem.value}
      </p>
      <p class="actions">
        {phase.value !== 'done' && (
          <button
            type="button"
            class="danger solid"
            aria-disabled={phase.value !== 'asking' || plan.value === undefined}
            onClick={() => void start()}
          >
            Drain
          </button>
        )}
        <button type="button" onClick={close}>
          {phase.value === 'draining' ? 'Stop' : phase.value === 'done' ? 'Close' : 'Cancel'}
        </button>
      </p>
    </Dialog>
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
