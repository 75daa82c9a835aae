import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ObjectRoute } from './routes.js';
import { session } from './session.js';
import { ask, type SqlAnswer } from './sql-answer.js';
import { toYaml } from './yaml-text.js';

interface Change {
  readonly op: string;
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** The history of an object, the newest entry first, each with its changes. */
export function TimelineTab({ route, version }: { readonly route: ObjectRoute; readonly version: string }) {
  const answer = useSignal<SqlAnswer | undefined>(undefined);
  const problem = useSignal('');
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
      <p class="quiet">The timeline needs a console with --sql-url, and the right to get the non-resource URL /sql.</p>
    );
  if (problem.value !== '') return <p class="problem">{problem.value}</p>;
  if (answer.value === undefined) return <p class="quiet">Loading…</p>;
  if (answer.value.rows.length === 0) return <p class="quiet">Nothing is known of its past.</p>;
  return (
    <ol class="timeline">
      {answer.value.rows.map(([at = '', time, verb, manager, user, diff]) => (
        <li key={`${at} ${verb}`}>
          <strong>{verb}</strong> {time ?? 'before what is kept'} <span class="quiet">version {at}</span>
          {manager && <span> by {manager}</span>}
          {user && <span> ({user})</span>}
          {changesOf(diff).map((change) => (
            <ChangeView key={`${change.op} ${change.path}`} change={change} />
          ))}
        </li>
      ))}
    </ol>
  );
}

function ChangeView({ change: { op, path, from, to } }: { readonly change: Change }) {
  return (
    <figure class="diff" aria-label={`${op} ${path}`}>
      <pre>
        {path}
        {op !== 'add' && <span class="removed">- {valueText(from)}</span>}
        {op !== 'remove' && <span class="added">+ {valueText(to)}</span>}
      </pre>
    </figure>
  );
}

function valueText(value: unknown): string {
  return typeof value === 'object' && value !== null ? toYaml(value).trimEnd() : (JSON.stringify(value) ?? '');
}

function changesOf(diff: string | null | undefined): readonly Change[] {
  try {
    const changes: unknown = JSON.parse(diff ?? '[]');
    return Array.isArray(changes) ? (changes as Change[]) : [];
  } catch {
    return [];
  }
}
