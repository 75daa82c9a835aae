import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Blank, Skeleton } from './blank.js';
import { ChangeView } from './change-view.js';
import { now, realNow } from './clock.js';
import { type Comparison, compareMoments } from './compare-moments.js';
import { nounOfKind } from './kind-title.js';
import { type Moment, moment, withTime } from './moment.js';
import { adjust, chosenNamespace } from './navigation.js';
import { type ObjectChange, shownChanges } from './object-changes.js';
import { type ChangesRoute, formatRoute } from './routes.js';
import { kinds, liveApi } from './session.js';
import type { Tone } from './status.js';
import { StatusText } from './status-badge.js';
import { isOpen } from './time-machine.js';
import { clockText, localInputText } from './time-text.js';
import { agoText } from './times.js';

/** What changed between the moment that is shown and a later one: who wrote it, and which fields. */
export function ChangesPage({ namespace, to }: ChangesRoute) {
  const shown = moment.value;
  useEffect(() => {
    chosenNamespace.value = namespace;
    isOpen.value = true;
  }, [namespace]);
  return (
    <section class="page changes">
      <header class="heading">
        <div>
          <p class="crumbs">{namespace === '' ? 'The cluster' : namespace}</p>
          <h1>What changed</h1>
        </div>
        {shown !== undefined && namespace !== '' && (
          <a class="button" href={formatRoute({ page: 'restore', namespace, of: '' })}>
            Restore {namespace}…
          </a>
        )}
      </header>
      {shown === undefined ? (
        <Blank icon="time" title="Since when?">
          <p>Move the slider above to the moment from which you want to see the changes.</p>
        </Blank>
      ) : (
        <Since from={shown} namespace={namespace} to={to} />
      )}
    </section>
  );
}

interface SinceProps extends ChangesRoute {
  readonly from: Moment;
}

function Since({ from, namespace, to }: SinceProps) {
  const found = useSignal<Comparison | undefined>(undefined);
  const problem = useSignal('');
  const withBookkeeping = useSignal(false);
  const round = useSignal(0);
  const bookkept = withBookkeeping.value;
  useEffect(() => {
    const stop = new AbortController();
    problem.value = '';
    const { all = [], suffix = '' } = kinds.value ?? {};
    versionAt(to, stop.signal)
      .then((version) => {
        const compared = { namespace, from, to: version, withBookkeeping: bookkept };
        return compareMoments(liveApi, all, suffix, compared, stop.signal);
      })
      .then(
        (comparison) => {
          found.value = comparison;
        },
        (error: unknown) => {
          if (!stop.signal.aborted) problem.value = (error as Error).message;
        },
      );
    return () => stop.abort();
  }, [from.version, namespace, to, bookkept, round.value]);
  return (
    <>
      <Between from={from} namespace={namespace} to={to} again={() => round.value++} />
      <p role="status" class="problem">
        {problem.value}
      </p>
      {found.value === undefined && problem.value === '' && <Skeleton lines={10} />}
      {found.value !== undefined && (
        <Found comparison={found.value} namespace={namespace} withBookkeeping={withBookkeeping} />
      )}
    </>
  );
}

/** The version at a time; empty: now. */
async function versionAt(time: string, signal: AbortSignal): Promise<string> {
  if (time === '') return '';
  const path = `/history/version?at=${encodeURIComponent(time)}`;
  const { resourceVersion } = await liveApi.json<{ readonly resourceVersion: string }>(path, { signal });
  return resourceVersion;
}

function Between({ from, namespace, to, again }: SinceProps & { readonly again: () => void }) {
  const set = (text: string) => {
    const time = new Date(text).getTime();
    adjust({ page: 'changes', namespace, to: Number.isNaN(time) ? '' : new Date(time).toISOString() });
  };
  return (
    <p class="between">
      <span>From</span> <strong>{clockText(from.time, realNow.value)}</strong> <span>to</span>{' '}
      {to === '' ? (
        <strong>now</strong>
      ) : (
        <button type="button" onClick={() => set('')}>
          now
        </button>
      )}
      <label>
        <span class="quiet">or</span> <span class="unseen">the later moment</span>
        <input
          type="datetime-local"
          step={1}
          key={to}
          defaultValue={to === '' ? '' : localInputText(Date.parse(to))}
          onChange={(event) => set(event.currentTarget.value)}
        />
      </label>
      <button type="button" onClick={again}>
        Read again
      </button>
    </p>
  );
}

const verbs: Readonly<Record<ObjectChange['verb'], Tone>> = {
  created: 'good',
  changed: 'busy',
  replaced: 'warn',
  deleted: 'bad',
};

interface FoundProps {
  readonly comparison: Comparison;
  readonly namespace: string;
  readonly withBookkeeping: Signal<boolean>;
}

function Found({ comparison: { changes, problems }, namespace, withBookkeeping }: FoundProps) {
  const withStatus = useSignal(false);
  const verb = useSignal<ObjectChange['verb'] | ''>('');
  const most = useSignal(100);
  const quiet = changes.filter(({ isQuiet }) => isQuiet).length;
  const loud = withStatus.value ? changes : changes.filter(({ isQuiet }) => !isQuiet);
  const shown = verb.value === '' ? loud : loud.filter((each) => each.verb === verb.value);
  return (
    <>
      <div class="change-tools">
        {(Object.keys(verbs) as ObjectChange['verb'][]).map((each) => {
          const count = loud.filter((change) => change.verb === each).length;
          if (count === 0) return null;
          return (
            <button
              key={each}
              type="button"
              aria-pressed={verb.value === each}
              onClick={() => (verb.value = verb.value === each ? '' : each)}
            >
              <StatusText tone={verbs[each]} text={`${count} ${each}`} />
            </button>
          );
        })}
        <span class="gap" />
        {quiet > 0 && <Tick on={withStatus} text={`${quiet} of the status alone`} />}
        <Tick on={withBookkeeping} text="Events, leases, endpoints" />
      </div>
      {shown.length === 0 ? (
        <Blank icon="time" title="Nothing changed">
          <p>
            {quiet > 0
              ? `Only the status of ${quiet} objects did.`
              : 'Objects that came and went in between are not seen.'}
          </p>
        </Blank>
      ) : (
        <ol class="timeline changed">
          {shown.slice(0, most.value).map((change) => (
            <ChangeItem
              key={`${change.kind.resource}.${change.kind.group}/${change.namespace}/${change.name}`}
              change={change}
              withStatus={withStatus.value}
              showsNamespace={namespace === ''}
            />
          ))}
        </ol>
      )}
      {shown.length > most.value && (
        <button type="button" onClick={() => (most.value += 200)}>
          Show {Math.min(200, shown.length - most.value)} more of {shown.length - most.value}
        </button>
      )}
      {problems.length > 0 && <p class="quiet">Not compared: {problems.join('; ')}</p>}
    </>
  );
}

function Tick({ on, text }: { readonly on: Signal<boolean>; readonly text: string }) {
  return (
    <label class="tick">
      <input type="checkbox" checked={on.value} onChange={() => (on.value = !on.value)} />
      <span>{text}</span>
    </label>
  );
}

interface ChangeItemProps {
  readonly change: ObjectChange;
  readonly withStatus: boolean;
  readonly showsNamespace: boolean;
}

/** How many fields are shown before the user asks for the others. */
const fewFields = 4;

function ChangeItem({ change, withStatus, showsNamespace }: ChangeItemProps) {
  const isLong = useSignal(false);
  const { kind, namespace, name, verb, writers, time } = change;
  const { group, version, resource } = kind;
  const fields = shownChanges(change, withStatus);
  const shown = isLong.value ? fields : fields.slice(0, fewFields);
  const to = { page: 'object' as const, group, version, resource, namespace, name, tab: 'summary' as const };
  return (
    <li class={verb}>
      <p class="writer">
        <StatusText tone={verbs[verb]} text={verb} />
        {/* What is gone is shown as it was; everything else as it is. */}
        <a href={verb === 'deleted' ? formatRoute(to) : withTime(formatRoute(to), moment.value?.time)}>
          {nounOfKind(kind.kind)} <strong>{name}</strong>
        </a>
        {showsNamespace && namespace !== '' && <span class="quiet">in {namespace}</span>}
        <span class="gap" />
        {writers.length > 0 && <span class="by">by {writers.join(', ')}</span>}
        {time !== '' && (
          <time class="quiet" dateTime={time} title={time}>
            {agoText(time, Math.max(now.value, realNow.value))}
          </time>
        )}
      </p>
      {shown.map((field) => (
        <ChangeView key={`${field.op} ${field.path}`} change={field} />
      ))}
      {fields.length > fewFields && (
        <button type="button" class="plain" onClick={() => (isLong.value = !isLong.value)}>
          {isLong.value ? 'Show fewer' : `Show ${fields.length - fewFields} more fields`}
        </button>
      )}
    </li>
  );
}
