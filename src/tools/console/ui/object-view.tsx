import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { AccessTab } from './access-tab.js';
import { ActionBar } from './action-bar.js';
import { Blank, Skeleton } from './blank.js';
import { Boundary } from './boundary.js';
import { DeleteDialog } from './delete-dialog.js';
import { EventsTab } from './events-tab.js';
import { waitInBrowser } from './follow.js';
import { Icon } from './icons.js';
import { bindKeys } from './keys.js';
import { nounOfKind, titleOfKind } from './kind-title.js';
import { pathOf } from './kinds.js';
import { LiveObject } from './live-object.js';
import { LogsTab } from './logs-tab.js';
import { LookBefore } from './look-before.js';
import { moment } from './moment.js';
import { isOfNamespaces } from './namespace-of-route.js';
import { keyOfKind } from './nav-groups.js';
import { EditView } from './object-edit.js';
import { OwnersTab } from './owners-tab.js';
import { formatRoute, listRoute, type ObjectRoute, type Tab } from './routes.js';
import { api, kinds, session } from './session.js';
import { SummaryTab } from './summary-tab.js';
import { TerminalTab } from './terminal-tab.js';
import { TimelineTab } from './timeline-tab.js';
import { useWhileShown } from './use-follow.js';
import type { ApiObject } from './yaml-text.js';
import { YamlView } from './yaml-view.js';

interface TabTitle {
  readonly tab: Tab;
  readonly title: string;
  readonly key: string;
}

const everywhere: readonly TabTitle[] = [
  { tab: 'summary', title: 'Summary', key: 'i' },
  { tab: 'yaml', title: 'YAML', key: 'y' },
  { tab: 'events', title: 'Events', key: 'e' },
  { tab: 'owners', title: 'Relations', key: 'o' },
  { tab: 'timeline', title: 'Timeline', key: 'h' },
  { tab: 'access', title: 'Access', key: 'w' },
];
const logs: TabTitle = { tab: 'logs', title: 'Logs', key: 'L' };
const terminal: TabTitle = { tab: 'terminal', title: 'Terminal', key: 'x' };

/** Kinds whose pods have logs. */
const logged: ReadonlySet<string> = new Set([
  ...['pods', 'deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'replicasets.apps', 'jobs.batch'],
]);

function tabsOf({ group, resource }: ObjectRoute): readonly TabTitle[] {
  // Logs and terminals are of the present.
  if (moment.value !== undefined) return everywhere;
  const [first, ...others] = everywhere;
  const named = group === '' ? resource : `${resource}.${group}`;
  if (first === undefined || !logged.has(named)) return everywhere;
  return named === 'pods' ? [first, logs, terminal, ...others] : [first, logs, ...others];
}

interface ObjectViewProps {
  readonly route: ObjectRoute;
  readonly show: (tab: Tab) => void;
  /** Closes the panel that the object is shown in; undefined on a page of its own. */
  readonly close?: () => void;
}

/** One object, live: what it is, and what can be done with it. */
export function ObjectView({ route, show, close }: ObjectViewProps) {
  const { namespace, name } = route;
  const collection = pathOf(route, namespace);
  const path = `${collection}/${encodeURIComponent(name)}`;
  const drawn = useSignal(0);
  const isEditing = useSignal(false);
  const isDeleting = useSignal(false);
  const isPast = moment.value !== undefined;
  const live = useMemo(() => new LiveObject(api, collection, name, () => drawn.value++), [collection, name, isPast]);
  useWhileShown((signal) => live.run(signal, waitInBrowser), [live]);
  const shown = tabsOf(route);
  const startEdit = () => {
    if (live.object === undefined || isPast || session.peek()?.readOnly === true) return;
    show('yaml');
    isEditing.value = true;
  };
  const askDelete = () => {
    isDeleting.value = live.object !== undefined && !live.isDeleted && !isPast && session.peek()?.readOnly !== true;
  };
  useObjectKeys({ route, show, close }, isPast, { edit: startEdit, remove: askDelete });
  void drawn.value;
  const { object } = live;
  return (
    <section class={close === undefined ? 'page object' : 'object'}>
      <Heading route={route} object={object} close={close} />
      {isPast ? (
        <PastActions route={route} />
      ) : (
        <ActionBar
          route={route}
          path={path}
          object={live.isDeleted ? undefined : object}
          edit={startEdit}
          remove={askDelete}
        />
      )}
      <Tabs titles={shown} chosen={route.tab} show={show} />
      <p role="status" class="problem">
        {live.isDeleted && !isPast ? 'The object was deleted. This is what it was.' : ''}
        {live.state === 'failed' || live.state === 'waiting' ? live.message : ''}
      </p>
      {live.isDeleted && !isPast && object !== undefined && (
        <LookBefore object={object} deletedVersion={live.deletedVersion} />
      )}
      <div role="tabpanel" aria-label={route.tab} class="tabpanel">
        <Boundary what="view" at={`${route.tab} ${object?.metadata.resourceVersion}`}>
          <Content
            {...{
              route: shown.some(({ tab }) => tab === route.tab) ? route : { ...route, tab: 'summary' },
              path,
              object,
              isDeleted: live.isDeleted,
              isEditing: isEditing.value,
              failed: live.state === 'failed',
            }}
            done={() => {
              isEditing.value = false;
            }}
          />
        </Boundary>
      </div>
      {isDeleting.value && object !== undefined && (
        <DeleteDialog
          path={path}
          object={object}
          close={() => {
            isDeleting.value = false;
          }}
        />
      )}
    </section>
  );
}

/** Binds the keys of the tabs and actions of an object. */
function useObjectKeys(
  { route, show, close }: ObjectViewProps,
  isPast: boolean,
  { edit, remove }: Readonly<Record<'edit' | 'remove', () => void>>,
): void {
  // Runs before the object is drawn: a key must not act on the object that was shown before.
  useLayoutEffect(
    () =>
      bindKeys([
        ...tabsOf(route).map(({ tab, key }) => ({ keys: [key], run: () => show(tab) })),
        { keys: ['E'], run: edit },
        { keys: ['D'], run: remove },
        ...(close === undefined ? [] : [{ keys: ['Escape'], run: close }]),
      ]),
    [route, isPast],
  );
}

/** What can be done with an object as it was. */
function PastActions({ route }: { readonly route: ObjectRoute }) {
  const isNamespace = isOfNamespaces(route);
  const restore = isNamespace
    ? { namespace: route.name, of: '' }
    : { namespace: route.namespace, of: `${keyOfKind(route)}/${route.name}` };
  return (
    <div class="actions-bar" role="toolbar" aria-label="Actions">
      <a class="button" href={formatRoute({ page: 'restore', ...restore })}>
        {isNamespace ? 'Restore it with what was in it…' : 'Restore it as it was…'}
      </a>
    </div>
  );
}

interface ContentProps {
  readonly route: ObjectRoute;
  readonly path: string;
  readonly object: ApiObject | undefined;
  readonly isDeleted: boolean;
  readonly isEditing: boolean;
  /** Whether the object can't be read. */
  readonly failed: boolean;
  /** Ends the edit. */
  readonly done: () => void;
}

function Content({ route, path, object, isDeleted, isEditing, failed, done }: ContentProps) {
  const { tab } = route;
  if (tab === 'timeline') return <TimelineTab route={route} version={object?.metadata.resourceVersion ?? ''} />;
  if (object === undefined) {
    if (!failed) return <Skeleton lines={8} />;
    const list = formatRoute(listRoute(route, route.namespace));
    return (
      <Blank title="It can't be shown">
        <a href={formatRoute({ page: 'object', ...route, tab: 'timeline' })}>What is known of its past</a>
        <a href={list}>Go to the list</a>
      </Blank>
    );
  }
  switch (tab) {
    case 'events':
      return <EventsTab object={object} />;
    case 'access':
      return <AccessTab route={route} />;
    case 'owners':
      return <OwnersTab object={object} />;
    case 'logs':
      return <LogsTab route={route} object={object} />;
    case 'terminal':
      return <TerminalTab route={route} object={object} />;
    case 'yaml':
      return isEditing ? (
        <EditView path={path} object={object} isDeleted={isDeleted} done={done} />
      ) : (
        <YamlView object={object} />
      );
    default:
      return <SummaryTab route={route} object={object} />;
  }
}

interface HeadingProps {
  readonly route: ObjectRoute;
  readonly object: ApiObject | undefined;
  readonly close: (() => void) | undefined;
}

/** The name of the object, its kind, and a link to the list of its kind. */
function Heading({ route, object, close }: HeadingProps) {
  const { group, resource, namespace, name } = route;
  const kind = kinds.value?.all.find((each) => each.group === group && each.resource === resource);
  const title = kind === undefined ? resource : close === undefined ? titleOfKind(kind) : nounOfKind(kind.kind);
  const scope = namespace === '' ? '' : namespace;
  return (
    <header class="heading">
      <div>
        <p class="crumbs">
          {close === undefined ? <a href={formatRoute(listRoute(route, namespace))}>{title}</a> : title}
          {scope !== '' && (
            <>
              {' '}
              in <strong>{scope}</strong>
            </>
          )}
        </p>
        <h1 class="name">{object?.metadata.name ?? name}</h1>
      </div>
      {close !== undefined && (
        <span class="corner">
          <a
            class="button plain"
            href={formatRoute({ page: 'object', ...route })}
            title="Open as a page of its own"
            aria-label="Open as a page of its own"
          >
            <Icon name="expand" />
          </a>
          <button type="button" class="plain" onClick={close} title="Close (Esc)" aria-label="Close the details">
            <Icon name="close" />
          </button>
        </span>
      )}
    </header>
  );
}

interface TabsProps {
  readonly titles: readonly TabTitle[];
  readonly chosen: Tab;
  readonly show: (to: Tab) => void;
}

function Tabs({ titles, chosen, show }: TabsProps) {
  return (
    <div class="tabs" role="tablist" aria-label="Views of the object">
      {titles.map(({ tab, title, key }) => (
        <button key={tab} type="button" role="tab" aria-selected={chosen === tab} title={key} onClick={() => show(tab)}>
          {title}
        </button>
      ))}
    </div>
  );
}
