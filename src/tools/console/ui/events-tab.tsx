import { useSignal } from '@preact/signals';
import { Blank, Skeleton } from './blank.js';
import { now } from './clock.js';
import { type Followed, follow, waitInBrowser, watchSeconds } from './follow.js';
import type { Metadata } from './metadata.js';
import { lastTime } from './problems.js';
import { api } from './session.js';
import { StatusText } from './status-badge.js';
import { TableHead } from './table-head.js';
import { agoText } from './times.js';
import { useWhileShown } from './use-follow.js';
import { Wide } from './wide.js';
import { type ApiObject, readObject } from './yaml-text.js';

interface EventObject {
  readonly metadata: Metadata;
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
}

/** The events of an object, the newest first. */
export function EventsTab({ object }: { readonly object: ApiObject }) {
  const { uid = '', namespace } = object.metadata;
  const events = useSignal<ReadonlyMap<string, EventObject>>(new Map());
  const problem = useSignal('');
  const isLoaded = useSignal(false);
  useWhileShown(
    (signal) => {
      // Events about objects without a namespace are in the default namespace.
      const collection = `/api/v1/namespaces/${encodeURIComponent(namespace ?? 'default')}/events`;
      const path = (more: Record<string, string>) =>
        `${collection}?${new URLSearchParams({ fieldSelector: `involvedObject.uid=${uid}`, ...more })}`;
      const followed: Followed = {
        accept: 'application/json',
        list: async (ending) => {
          const list = readObject(await api.text(path({ limit: '500' }), { signal: ending }));
          const items = (list.items ?? []) as EventObject[];
          events.value = new Map(items.map((event) => [event.metadata.name, event]));
          isLoaded.value = true;
          return list.metadata.resourceVersion ?? '';
        },
        watchPath: (version) =>
          path({ watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: watchSeconds, resourceVersion: version }),
        event: (type, changed) => {
          const event = changed as EventObject;
          const next = new Map(events.value);
          if (type === 'DELETED') next.delete(event.metadata.name);
          else if (type !== 'BOOKMARK') next.set(event.metadata.name, event);
          events.value = next;
          return event.metadata.resourceVersion;
        },
        state: (state, message) => {
          problem.value = state === 'failed' || state === 'waiting' ? message : '';
        },
        forget: () => {
          events.value = new Map();
        },
      };
      return follow(api, followed, signal, waitInBrowser);
    },
    [uid, namespace],
  );
  const shown = [...events.value.values()].sort((a, b) => lastTime(b).localeCompare(lastTime(a)));
  if (problem.value !== '') return <p class="problem">{problem.value}</p>;
  if (shown.length === 0 && !isLoaded.value) return <Skeleton lines={5} />;
  if (shown.length === 0) {
    return (
      <Blank icon="bookmark" title="No events">
        <p>Nothing happened to this object lately; the server forgets events after a while.</p>
      </Blank>
    );
  }
  return (
    <Wide>
      <table class="plain events">
        <TableHead titles={['Last seen', 'Reason', 'Message', 'Times', 'From']} />
        <tbody>
          {shown.map((event) => (
            <tr key={event.metadata.name}>
              <td title={lastTime(event)} class="time">
                {agoText(lastTime(event), now.value)}
              </td>
              <td>
                <StatusText tone={event.type === 'Warning' ? 'warn' : 'idle'} text={event.reason ?? event.type ?? ''} />
              </td>
              <td>{event.message}</td>
              <td class="number">{event.series?.count ?? event.count ?? 1}</td>
              <td class="quiet">{event.source?.component || event.reportingComponent}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
