import { useSignal } from '@preact/signals';
import { now } from './clock.js';
import { type Kind, kindOf } from './kinds.js';
import { keyOfProblem, usePodReasons } from './pod-reasons.js';
import type { NodeProblem, PodProblem, QuotaProblem, Warning } from './problems.js';
import { formatRoute } from './routes.js';
import { kinds } from './session.js';
import { StatusText } from './status-badge.js';
import { hrefOf } from './target-link.js';
import { agoText } from './times.js';

const shownAtOnce = 10;

export function PodProblems({ problems }: { readonly problems: readonly PodProblem[] }) {
  const count = useSignal(shownAtOnce);
  const shown = problems.slice(0, count.value);
  const reasons = usePodReasons(shown);
  return (
    <>
      <ul class="trouble">
        {shown.map((problem) => {
          const { namespace, owner, word, tone, restarts, pods, since } = problem;
          const [first = ''] = pods;
          const href = hrefOf(kinds.value, { group: '', resource: 'pods', namespace, name: first });
          const why = reasons[keyOfProblem(problem)] ?? '';
          const more = pods.length > 1 ? `and ${pods.length - 1} more of ${owner.replace('/', ' ')}` : '';
          return (
            <li key={`${namespace} ${owner} ${word}`} class={tone}>
              <StatusText tone={tone} text={word} />
              <span class="what">
                <a href={href}>{first}</a> <span class="quiet">in {namespace}</span>
                {more !== '' && <span class="quiet"> {more}</span>}
                {why !== '' && <span class="why">{why}</span>}
              </span>
              <span class="when quiet">
                {restarts > 0 && <span>{restarts} restarts</span>}
                <time title={since}>{agoText(since, now.value)}</time>
              </span>
            </li>
          );
        })}
      </ul>
      <More count={count} total={problems.length} />
    </>
  );
}

export function NodeList({ problems }: { readonly problems: readonly NodeProblem[] }) {
  return (
    <ul class="trouble">
      {problems.map(({ name, state }) => (
        <li key={name} class={state.tone}>
          <StatusText tone={state.tone} text={state.word} />
          <span class="what">
            <a href={hrefOf(kinds.value, { group: '', resource: 'nodes', namespace: '', name })}>{name}</a>
            {state.why !== '' && <span class="why">{state.why}</span>}
          </span>
          <span class="when" />
        </li>
      ))}
    </ul>
  );
}

export function QuotaList({ problems }: { readonly problems: readonly QuotaProblem[] }) {
  return (
    <ul class="trouble">
      {problems.map(({ namespace, name, resource, used, most, share }) => {
        const tone = share >= 1 ? 'bad' : 'warn';
        return (
          <li key={`${namespace} ${name} ${resource}`} class={tone}>
            <StatusText tone={tone} text={`${Math.round(share * 100)} %`} />
            <span class="what">
              <a href={hrefOf(kinds.value, { group: '', resource: 'resourcequotas', namespace, name })}>
                {resource} in {namespace}
              </a>
              <span class="why">
                {used} of {most} used (quota {name})
              </span>
            </span>
            <span class="when" />
          </li>
        );
      })}
    </ul>
  );
}

export function WarningList({ warnings }: { readonly warnings: readonly Warning[] }) {
  const count = useSignal(shownAtOnce);
  if (warnings.length === 0) {
    return (
      <p class="fine">
        <StatusText tone="good" text="No warnings are kept" />
      </p>
    );
  }
  const all = kinds.value?.all ?? [];
  return (
    <>
      <ul class="trouble">
        {warnings.slice(0, count.value).map((warning) => {
          const { key, namespace, kind, name, apiVersion, reason, message, count: times, last } = warning;
          return (
            <li key={key} class="warn">
              <StatusText tone="warn" text={reason || 'Warning'} />
              <span class="what">
                <a href={eventHref(kindOf(all, apiVersion, kind), namespace, name)}>
                  {kind} {name}
                </a>
                {namespace !== '' && <span class="quiet"> in {namespace}</span>}
                <span class="why">{message}</span>
              </span>
              <span class="when quiet">
                {times > 1 && <span>{times} times</span>}
                <time title={last}>{agoText(last, now.value)}</time>
              </span>
            </li>
          );
        })}
      </ul>
      <More count={count} total={warnings.length} />
    </>
  );
}

function eventHref(kind: Kind | undefined, namespace: string, name: string): string | undefined {
  if (kind === undefined || name === '') return undefined;
  return formatRoute({ page: 'object', ...kind, namespace: kind.namespaced ? namespace : '', name, tab: 'events' });
}

function More({ count, total }: { readonly count: { value: number }; readonly total: number }) {
  const left = total - count.value;
  if (left <= 0) return null;
  return (
    <button
      type="button"
      class="plain"
      onClick={() => {
        count.value += 20;
      }}
    >
      Show {Math.min(20, left)} more of {left}
    </button>
  );
}
