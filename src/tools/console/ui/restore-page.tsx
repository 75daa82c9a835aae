import { useEffect } from 'preact/hooks';
import type { RestoreScope } from '../../backup/restore/plan.js';
import { type RestorePlan, type RestoreStep, restoredObject } from '../../backup/restore/plan.js';
import type { StepResult } from '../../backup/restore/restore.js';
import { Blank, Skeleton } from './blank.js';
import { ChangeView } from './change-view.js';
import { realNow } from './clock.js';
import { fieldChanges } from './field-changes.js';
import { nounOfKind } from './kind-title.js';
import { type Moment, moment } from './moment.js';
import { chosenNamespace } from './navigation.js';
import { PastNamespaces } from './past-namespaces.js';
import { restorableKinds } from './restore-client.js';
import { formatRoute, type RestoreRoute } from './routes.js';
import { kinds } from './session.js';
import type { Tone } from './status.js';
import { StatusText } from './status-badge.js';
import { isOpen, leavePast } from './time-machine.js';
import { clockText } from './time-text.js';
import { isWanted } from './timeline-fold.js';
import { type RestoreRun, useRestore } from './use-restore.js';

/** Brings a namespace, or one object, back to the moment that is shown: a plan, a dry run, then for good. */
export function RestorePage({ namespace, of }: RestoreRoute) {
  const shown = moment.value;
  useEffect(() => {
    chosenNamespace.value = namespace;
    isOpen.value = true;
  }, [namespace]);
  return (
    <section class="page restore">
      <header class="heading">
        <div>
          <p class="crumbs">Restore</p>
          <h1>{of === '' ? namespace || 'A namespace' : of}</h1>
        </div>
      </header>
      {shown === undefined ? (
        <Blank icon="time" title="To which moment?">
          <p>Move the slider above to the moment that you want back.</p>
        </Blank>
      ) : of === '' && namespace === '' ? (
        <PastNamespaces key={shown.version} version={shown.version} />
      ) : (
        <Plan key={`${shown.version} ${namespace} ${of}`} at={shown} namespace={namespace} of={of} />
      )}
    </section>
  );
}

/** What has to be looked at: all kinds of a namespace and itself, or one object. */
function scopesOf(namespace: string, of: string): readonly RestoreScope[] {
  const served = restorableKinds(kinds.value?.all ?? []);
  const [word = '', name = ''] = of.split('/');
  return served.flatMap((kind): RestoreScope[] => {
    const { apiVersion, resource } = kind;
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    if (of !== '') {
      if (word !== (group === '' ? resource : `${resource}.${group}`)) return [];
      return [{ kind, wanted: { ...(kind.namespaced && { namespace }), name }, isNamed: true }];
    }
    if (kind.namespaced) return [{ kind, wanted: { namespace }, isNamed: false }];
    return resource === 'namespaces' && group === '' ? [{ kind, wanted: { name: namespace }, isNamed: false }] : [];
  });
}

interface PlanProps extends RestoreRoute {
  readonly at: Moment;
}

function Plan({ at, namespace, of }: PlanProps) {
  const run = useRestore(() => scopesOf(namespace, of), at.version);
  if (run.problem !== '') return <p class="problem">{run.problem}</p>;
  const { plan } = run;
  if (plan === undefined) return <Skeleton lines={8} />;
  const { steps, notSeen } = plan;
  const { work, chosen, tried, isDone } = run;
  return (
    <>
      <Verdict at={at} steps={steps} />
      {work.length > 0 && (
        <p class="actions">
          {isDone ? (
            <DoneText namespace={namespace} failed={run.failed} count={chosen.length} />
          ) : (
            <NextStep run={run} />
          )}
        </p>
      )}
      <ul class="steps">
        {work.map((step) => (
          <StepItem
            key={`${step.kind.apiVersion} ${step.kind.resource} ${step.past.metadata.name}`}
            {...{ step, plan, result: tried?.of.get(step), isDryRun: tried?.isDryRun === true }}
            isChosen={chosen.includes(step)}
            flip={isDone ? undefined : () => run.flip(step)}
          />
        ))}
      </ul>
      <Others steps={steps} notSeen={notSeen} />
    </>
  );
}

/** The button of the dry run, or after it that of the restore. */
function NextStep({ run }: { readonly run: RestoreRun }) {
  const { chosen, isChecked, isBusy, start } = run;
  const what = chosen.length === 1 ? 'it' : `these ${chosen.length}`;
  const answer = dryRunText(run);
  return (
    <>
      <button
        type="button"
        class="main"
        aria-disabled={isBusy || chosen.length === 0}
        onClick={() => chosen.length > 0 && start(!isChecked)}
      >
        {isChecked ? `Restore ${what}` : 'Check with the server (dry run)'}
      </button>
      <span class="quiet">{isChecked ? answer : 'Nothing is deleted: what was made since stays.'}</span>
    </>
  );
}

/** What a dry run found out. */
function dryRunText({ chosen, failed, tried }: RestoreRun): string {
  if (failed > 0) return `The server would refuse ${failed}.`;
  const later = chosen.filter((step) => tried?.of.get(step)?.outcome === 'unchecked').length;
  if (later === 0) return 'The server would accept everything.';
  return `The server would accept ${chosen.length - later}. The other ${later} can be checked only when their namespace is back.`;
}

function Verdict({ at, steps }: { readonly at: Moment; readonly steps: readonly RestoreStep[] }) {
  const count = (action: RestoreStep['action']) => steps.filter((step) => step.action === action).length;
  const time = clockText(at.time, realNow.value);
  if (count('create') + count('update') === 0) {
    return (
      <Blank icon="time" title={steps.length === 0 ? 'Nothing was there' : 'There is nothing to bring back'}>
        <p>{steps.length === 0 ? `At ${time}, nothing of this existed.` : `Everything is as it was at ${time}.`}</p>
      </Blank>
    );
  }
  return (
    <p class="plan">
      <span>
        Back to <strong>{time}</strong>:
      </span>{' '}
      <StatusText tone="good" text={`create ${count('create')}`} />{' '}
      <StatusText tone="busy" text={`change ${count('update')}`} />{' '}
      <StatusText tone="idle" text={`leave ${count('leave')}`} />{' '}
      <StatusText tone="idle" text={`unchanged ${count('unchanged')}`} />
    </p>
  );
}

function DoneText(props: { readonly namespace: string; readonly failed: number; readonly count: number }) {
  const { namespace, failed, count } = props;
  return (
    <>
      <StatusText
        tone={failed === 0 ? 'good' : 'bad'}
        text={failed === 0 ? `Restored ${count}` : `${failed} of ${count} failed`}
      />
      <a class="button" href={formatRoute({ page: 'map', namespace })} onClick={leavePast}>
        See {namespace || 'the cluster'} now
      </a>
    </>
  );
}

interface StepItemProps {
  readonly step: RestoreStep;
  readonly plan: RestorePlan;
  readonly result: StepResult | undefined;
  readonly isDryRun: boolean;
  readonly isChosen: boolean;
  /** Chooses or leaves the step; undefined once it is done. */
  readonly flip: (() => void) | undefined;
}

function StepItem({ step, plan, result, isDryRun, isChosen, flip }: StepItemProps) {
  const { action, kind, past, present, why } = step;
  const name = past.metadata.name ?? '';
  const tone: Tone = action === 'create' ? 'good' : 'busy';
  return (
    <li class={isChosen ? '' : 'left'}>
      <label class="tick">
        <input type="checkbox" checked={isChosen} disabled={flip === undefined} onChange={flip} />
        <StatusText tone={tone} text={action === 'create' ? 'create' : 'change'} />
        <span>
          {nounOfKind(kind.kind)} <strong>{name}</strong>
        </span>
        <span class="gap" />
        {result !== undefined && <Outcome result={result} isDryRun={isDryRun} />}
      </label>
      {why !== undefined && <p class="quiet">{why}</p>}
      {result?.why !== undefined && <p class={result.outcome === 'failed' ? 'problem' : 'quiet'}>{result.why}</p>}
      {action === 'update' && present !== undefined && <StepFields step={step} plan={plan} />}
    </li>
  );
}

function StepFields({ step, plan }: Pick<StepItemProps, 'step' | 'plan'>) {
  const isSecret = step.kind.apiVersion === 'v1' && step.kind.kind === 'Secret';
  const { object: later } = restoredObject(step, plan.uids);
  const { object: earlier } = restoredObject(
    { ...step, past: step.present as RestoreStep['past'] },
    { get: (uid) => uid },
  );
  const changes = fieldChanges(earlier, later).filter(isWanted);
  if (isSecret)
    return <p class="quiet">{changes.map(({ path }) => path).join(', ')}: the values of Secrets are not shown.</p>;
  return changes.map((change) => <ChangeView key={`${change.op} ${change.path}`} change={change} />);
}

function Outcome({ result: { outcome }, isDryRun }: { readonly result: StepResult; readonly isDryRun: boolean }) {
  if (outcome === 'failed') return <StatusText tone="bad" text={isDryRun ? 'would be refused' : 'failed'} />;
  if (outcome === 'unchecked') return <StatusText tone="idle" text="can’t be checked yet" />;
  return <StatusText tone="good" text={isDryRun ? 'accepted' : 'done'} />;
}

/** What stays as it is, with the reasons. */
function Others({ steps, notSeen }: Pick<RestorePlan, 'steps' | 'notSeen'>) {
  const others = steps.filter(({ action }) => action === 'leave');
  const unchanged = steps.filter(({ action }) => action === 'unchanged').length;
  return (
    <>
      {others.length > 0 && (
        <details class="details">
          <summary>{others.length} are left as they are</summary>
          <ul class="steps">
            {others.slice(0, 500).map(({ kind, past, why }) => (
              <li key={`${kind.apiVersion} ${kind.resource} ${past.metadata.name}`}>
                {nounOfKind(kind.kind)} <strong>{past.metadata.name}</strong> <span class="quiet">{why}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {unchanged > 0 && <p class="quiet">{unchanged} are as they were.</p>}
      {notSeen.length > 0 && (
        <p class="quiet">Not looked at: {notSeen.map(({ what, why }) => `${what} (${why})`).join('; ')}</p>
      )}
    </>
  );
}
