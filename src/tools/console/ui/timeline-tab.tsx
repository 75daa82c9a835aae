import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Blank, Skeleton } from './blank.js';
import { ChangeView } from './change-view.js';
import { now } from './clock.js';
import type { ObjectRoute } from './routes.js';
import { session } from './session.js';
import { ask, type SqlAnswer } from './sql-answer.js';
import { type Change, type Entry, type Fold, foldTimeline, isStatusOnly } from './timeline-fold.js';
import { agoText } from './times.js';

/** The history of an object by its writers, the newest first, each with its changes. */
export function TimelineTab({ route, version }: { readonly route: ObjectRoute; readonly version: string }) {
  const answer = useSignal<SqlAnswer | undefined>(undefined);
  const problem = useSignal('');
  const withStatus = useSignal(false);
  const { group, resource, namespace, name } = route;
  const may = session.value?.sql === true;
  useEffect(() => {
    if (!may) return;
    const stop = new AbortController();
    const named = group === '' ? resource : `${resource}.${group}`;
    ask('/console/timeline', { resource: named, namespace, name }, stop.signal).then(
      (rows) => {
        answer.value = rows;
        problem.value = '';
      },
      (error: unknown) => {
        if (!stop.signal.aborted) problem.value = (error as Error).message;
      },
    );
    return () => stop.abort();
  }, [group, resource, namespace, name, version, may]);
  if (!may)
    return (
      <Blank icon="server" title="No timeline here">
        <p>The timeline needs a console with --sql-url, and the right to get the non-resource URL /sql.</p>
      </Blank>
    );
  if (problem.value !== '') return <p class="problem">{problem.value}</p>;
  if (answer.value === undefined) return <Skeleton lines={8} />;
  const entries = answer.value.rows.map(entryOf);
  if (entries.length === 0)
    return (
      <Blank title="Nothing is known of its past">
        <p>The server keeps as much as its flag --history-retention says.</p>
      </Blank>
    );
  const folds = foldTimeline(entries, withStatus.value);
  const quiet = entries.filter(isStatusOnly).length;
  return (
    <>
      {quiet > 0 && (
        <label class="tick">
          <input
            type="checkbox"
            checked={withStatus.value}
            onChange={() => {
              withStatus.value = !withStatus.value;
            }}
          />
          <span>Show {quiet} changes of the status alone</span>
        </label>
      )}
      <ol class="timeline">
        {folds.map((fold) => (
          <FoldView key={fold.entries.at(-1)?.version} fold={fold} />
        ))}
      </ol>
    </>
  );
}

/** How many entries of a fold are shown before the user asks for the others. */
const shownAtOnce = 3;

function FoldView({ fold: { manager, user, entries } }: { readonly fold: Fold }) {
  const isOpen = useSignal(false);
  const [newest] = entries;
  const writer = manager || user || 'unknown';
  const more = entries.length - shownAtOnce;
  const shown = isOpen.value ? entries : entries.slice(0, shownAtOnce);
  return (
    <li>
      <p class="writer">
        <strong>{writer}</strong>
        {user !== '' && manager !== '' && <span class="quiet">{user}</span>}
        <span class="gap" />
        <When time={newest?.time} />
      </p>
      <ol>
        {shown.map((entry) => (
          <EntryView key={`${entry.version} ${entry.verb}`} entry={entry} showsTime={entries.length > 1} />
        ))}
      </ol>
      {more > 0 && (
        <button
          type="button"
          class="plain"
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          {isOpen.value ? 'Show fewer' : `Show ${more} more`}
        </button>
      )}
    </li>
  );
}

interface EntryViewProps {
  readonly entry: Entry;
  readonly showsTime: boolean;
}

function EntryView({ entry: { version, time, verb, changes }, showsTime }: EntryViewProps) {
  return (
    <li class={`entry ${verb}`}>
      <p>
        <span class="verb">{verb}</span> {showsTime && <When time={time} />}{' '}
        <span class="quiet">version {version}</span>
      </p>
      {changes.map((change) => (
        <ChangeView key={`${change.op} ${change.path}`} change={change} />
      ))}
    </li>
  );
}

function When({ time }: { readonly time: string | undefined }) {
  if (time === undefined) return <span class="quiet">before what is kept</span>;
  return (
    <time class="quiet" dateTime={time} title={time}>
      {agoText(time, now.value)}
    </time>
  );
}

function entryOf([version, time, verb, manager, user, diff]: readonly (string | null)[]): Entry {
  return {
    version: version ?? '',
    time: time === null || time === undefined ? undefined : isoTime(time),
    verb: verb ?? '',
    manager: manager ?? '',
    user: user ?? '',
    changes: changesOf(diff),
  };
}

/** The database writes `2026-01-02 03:04:05.6+00`. */
function isoTime(time: string): string {
  return time.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
}

function changesOf(diff: string | null | undefined): readonly Change[] {
  try {
    const changes: unknown = JSON.parse(diff ?? '[]');
    return Array.isArray(changes) ? (changes as Change[]) : [];
  } catch {
    return [];
  }
}
