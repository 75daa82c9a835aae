import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { DeleteDialog } from './delete-dialog.js';
import { EventsTab } from './events-tab.js';
import { waitInBrowser } from './follow.js';
import { bindKeys } from './keys.js';
import { pathOf } from './kinds.js';
import { LiveObject } from './live-object.js';
import { adjust } from './navigation.js';
import { EditView } from './object-edit.js';
import { OwnersTab } from './owners-tab.js';
import { formatRoute, type ObjectRoute, type Tab } from './routes.js';
import { api } from './session.js';
import { TimelineTab } from './timeline-tab.js';
import { useWhileShown } from './use-follow.js';
import { YamlView } from './yaml-view.js';

const titles: readonly (readonly [Tab, string, string])[] = [
  ['yaml', 'YAML', 'y'],
  ['events', 'Events', 'e'],
  ['owners', 'Owners', 'o'],
  ['timeline', 'Timeline', 'h'],
];

/** One object: as YAML, its events, and what it belongs to. */
export function ObjectPage({ route }: { readonly route: ObjectRoute }) {
  const { namespace, name, tab } = route;
  const collection = pathOf(route, namespace);
  const drawn = useSignal(0);
  const isEditing = useSignal(false);
  const isDeleting = useSignal(false);
  const live = useMemo(() => new LiveObject(api, collection, name, () => drawn.value++), [collection, name]);
  useWhileShown((signal) => live.run(signal, waitInBrowser), [live]);
  const show = (to: Tab) => adjust({ page: 'object', ...route, tab: to });
  // Runs before the object is drawn: a key must not act on the object that was shown before.
  useLayoutEffect(
    () =>
      bindKeys([
        ...titles.map(([to, , key]) => ({ keys: [key], run: () => show(to) })),
        { keys: ['E'], run: () => startEdit() },
        { keys: ['D'], run: () => askDelete() },
      ]),
    [route],
  );
  const startEdit = () => {
    if (live.object === undefined) return;
    show('yaml');
    isEditing.value = true;
  };
  const askDelete = () => {
    isDeleting.value = live.object !== undefined && !live.isDeleted;
  };
  void drawn.value;
  const { object } = live;
  return (
    <section class="page object">
      <header class="tools">
        <Title route={route} />
        <span class="gap" />
        <button type="button" onClick={startEdit} disabled={object === undefined || isEditing.value} title="E">
          Edit
        </button>
        <button
          type="button"
          class="danger"
          onClick={askDelete}
          disabled={object === undefined || live.isDeleted}
          title="D"
        >
          Delete
        </button>
      </header>
      <Tabs chosen={tab} show={show} />
      <p role="status" class="problem">
        {live.isDeleted ? 'The object was deleted. This is what it was.' : ''}
        {live.state === 'failed' || live.state === 'waiting' ? live.message : ''}
      </p>
      <div role="tabpanel" aria-label={tab}>
        {object === undefined && live.state === 'loading' && <p>Loading…</p>}
        {object !== undefined && tab === 'yaml' && !isEditing.value && <YamlView object={object} />}
        {object !== undefined && tab === 'yaml' && isEditing.value && (
          <EditView
            path={`${collection}/${encodeURIComponent(name)}`}
            object={object}
            isDeleted={live.isDeleted}
            done={() => {
              isEditing.value = false;
            }}
          />
        )}
        {object !== undefined && tab === 'events' && <EventsTab object={object} />}
        {object !== undefined && tab === 'owners' && <OwnersTab object={object} />}
        {tab === 'timeline' && <TimelineTab route={route} version={object?.metadata.resourceVersion ?? ''} />}
      </div>
      {isDeleting.value && object !== undefined && (
        <DeleteDialog
          path={`${collection}/${encodeURIComponent(name)}`}
          object={object}
          close={() => {
            isDeleting.value = false;
          }}
        />
      )}
    </section>
  );
}

/** The name of the object, behind a link to the list of its kind. */
function Title({ route: { group, version, resource, namespace, name } }: { readonly route: ObjectRoute }) {
  const list = formatRoute({ page: 'list', group, version, resource, namespace, labels: '', fields: '', text: '' });
  return (
    <h1>
      <a href={list}>{resource}</a> {namespace === '' ? '' : `${namespace} / `}
      <span class="name">{name}</span>
    </h1>
  );
}

function Tabs({ chosen, show }: { readonly chosen: Tab; readonly show: (to: Tab) => void }) {
  return (
    <div class="tabs" role="tablist" aria-label="Views of the object">
      {titles.map(([to, title, key]) => (
        <button key={to} type="button" role="tab" aria-selected={chosen === to} title={key} onClick={() => show(to)}>
          {title}
        </button>
      ))}
    </div>
  );
}
