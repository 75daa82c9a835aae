import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { now } from './clock.js';
import { selectorText } from './details.js';
import { type Kind, pathOf } from './kinds.js';
import { shownVersion } from './moment.js';
import { formatRoute, listRoute } from './routes.js';
import { ageOf } from './rows.js';
import { api, kinds } from './session.js';
import { toneOfCell } from './status.js';
import { StatusText } from './status-badge.js';
import { type Column, type Row, readTable } from './table.js';
import { kindOfTarget } from './target-link.js';
import { Wide } from './wide.js';
import type { ApiObject } from './yaml-text.js';

/** What else belongs to an object: a list of another kind, by a selector. */
interface Relation {
  readonly title: string;
  readonly resource: string;
  readonly group: string;
  readonly namespace: string;
  readonly labels?: string;
  readonly fields?: string;
  /** Only objects of this owner. */
  readonly owner?: string;
}

/** The lists that people open next from an object. */
function relationsOf(resource: string, object: ApiObject): readonly Relation[] {
  const { name, namespace = '', uid = '' } = object.metadata;
  const selector = selectorText(resource, object);
  const pods = { title: 'Pods', resource: 'pods', group: '', namespace };
  switch (resource) {
    case 'deployments':
      return [
        { ...pods, labels: selector },
        { title: 'Replica sets', resource: 'replicasets', group: 'apps', namespace, labels: selector, owner: uid },
      ];
    case 'statefulsets':
    case 'daemonsets':
    case 'replicasets':
    case 'replicationcontrollers':
    case 'jobs':
    case 'services':
    case 'poddisruptionbudgets':
      return selector === '' ? [] : [{ ...pods, labels: selector }];
    case 'cronjobs':
      return [{ title: 'Jobs', resource: 'jobs', group: 'batch', namespace, owner: uid }];
    case 'nodes':
      return [{ ...pods, fields: `spec.nodeName=${name}` }];
    default:
      return [];
  }
}

export function Related({ resource, object }: { readonly resource: string; readonly object: ApiObject }) {
  return relationsOf(resource, object).map((relation) => (
    <RelatedList key={relation.title} relation={relation} version={object.metadata.resourceVersion ?? ''} />
  ));
}

const most = 100;

function RelatedList({ relation, version }: { readonly relation: Relation; readonly version: string }) {
  const found = useSignal<{ readonly columns: readonly Column[]; readonly rows: readonly Row[] } | undefined>(
    undefined,
  );
  const problem = useSignal('');
  const { group, resource, namespace, labels = '', fields = '', owner } = relation;
  const kind = kinds.value === undefined ? undefined : kindOfTarget(kinds.value, group, resource);
  useEffect(() => {
    if (kind === undefined) return;
    const stop = new AbortController();
    const query = {
      limit: String(owner === undefined ? most : 500),
      ...(labels && { labelSelector: labels }),
      ...(fields && { fieldSelector: fields }),
    };
    readTable(
      api,
      `${pathOf(kind, namespace)}?${new URLSearchParams(query)}`,
      kinds.value?.suffix ?? '',
      stop.signal,
    ).then(
      ({ columns, rows }) => {
        found.value = { columns, rows: owner === undefined ? rows : rows.filter((row) => row.owners.includes(owner)) };
        problem.value = '';
      },
      (error: unknown) => {
        if (!stop.signal.aborted) problem.value = (error as Error).message;
      },
    );
    return () => stop.abort();
  }, [kind, namespace, labels, fields, owner, version, shownVersion()]);
  if (kind === undefined) return null;
  const all = formatRoute({ ...listRoute(kind, namespace), labels, fields });
  return (
    <section class="details">
      <h2>
        <a href={all}>{relation.title}</a>
        {found.value !== undefined && <span class="count">{found.value.rows.length}</span>}
      </h2>
      {problem.value !== '' && <p class="problem">{problem.value}</p>}
      {found.value !== undefined && <RelatedRows kind={kind} {...found.value} />}
    </section>
  );
}

const mostColumns = 5;

interface RelatedRowsProps {
  readonly kind: Kind;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

function RelatedRows({ kind, columns, rows }: RelatedRowsProps) {
  if (rows.length === 0) return <p class="quiet">There are none.</p>;
  const shown = columns
    .map((column, index) => ({ ...column, index }))
    .filter(({ priority }) => priority === 0)
    .slice(0, mostColumns);
  return (
    <Wide>
      <table class="plain">
        <thead>
          <tr>
            {shown.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              {shown.map(({ name, index }, place) => {
                const text = name === 'Age' ? ageOf(row.created, now.value) : (row.cells[index] ?? '');
                const others = (title: string) => row.cells[columns.findIndex((each) => each.name === title)] ?? '';
                const tone = toneOfCell(kind.resource, name, text, others);
                const { namespace } = row;
                const href = formatRoute({ page: 'object', ...kind, namespace, name: row.name, tab: 'summary' });
                return (
                  <td key={name}>
                    {place === 0 ? <a href={href}>{text}</a> : tone ? <StatusText tone={tone} text={text} /> : text}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
