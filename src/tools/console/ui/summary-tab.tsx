import { useSignal } from '@preact/signals';
import { now } from './clock.js';
import { ownersOf } from './details.js';
import { entriesAt, textAt } from './dig.js';
import { sectionsOf } from './kind-sections.js';
import { nounOfKind } from './kind-title.js';
import { kindOf } from './kinds.js';
import { ObjectData } from './object-data.js';
import { objectState } from './object-state.js';
import { Related } from './related.js';
import { formatRoute, listRoute, type ObjectRoute } from './routes.js';
import { Sections } from './sections-view.js';
import { kinds } from './session.js';
import { StatusText } from './status-badge.js';
import { agoText } from './times.js';
import { Usage } from './usage.js';
import { limitsOf } from './usage-limits.js';
import type { ApiObject } from './yaml-text.js';

/** What an object is and how it stands, for people. */
export function SummaryTab({ route, object }: { readonly route: ObjectRoute; readonly object: ApiObject }) {
  const { resource } = route;
  const holdsData = route.group === '' && (resource === 'configmaps' || resource === 'secrets');
  return (
    <div class="summary">
      <Headline route={route} object={object} />
      {holdsData && <ObjectData resource={resource} object={object} />}
      {route.group === '' && (resource === 'pods' || resource === 'nodes') && (
        <Usage
          measured={{ resource, namespace: route.namespace, name: route.name }}
          limits={limitsOf(resource, object)}
        />
      )}
      <Related resource={resource} object={object} />
      {!holdsData && <Sections sections={sectionsOf(resource, object)} />}
      <Labels route={route} object={object} />
    </div>
  );
}

function Headline({ route, object }: { readonly route: ObjectRoute; readonly object: ApiObject }) {
  const { metadata } = object;
  const state = objectState(route.resource, object);
  const created = metadata.creationTimestamp ?? '';
  const all = kinds.value?.all ?? [];
  return (
    <div class="headline">
      {state !== undefined && (
        <p class={`state ${state.tone}`}>
          <StatusText tone={state.tone} text={state.word} />
          {state.why !== '' && <span class="why">{state.why}</span>}
        </p>
      )}
      <p class="quiet">
        Created <time title={created}>{agoText(created, now.value)}</time>
        {ownersOf(object).map(({ apiVersion, kind: kindName, name }) => {
          const kind = kindOf(all, apiVersion, kindName);
          const text = `${nounOfKind(kindName)} ${name}`;
          const namespace = kind?.namespaced === true ? (metadata.namespace ?? '') : '';
          return (
            <span key={text}>
              , belongs to{' '}
              {kind === undefined ? (
                text
              ) : (
                <a href={formatRoute({ page: 'object', ...kind, namespace, name, tab: 'summary' })}>{text}</a>
              )}
            </span>
          );
        })}
      </p>
    </div>
  );
}

/** How many labels and annotations are drawn: an object may have tens of thousands. */
const mostShown = 300;

function Labels({ route, object }: { readonly route: ObjectRoute; readonly object: ApiObject }) {
  const isOpen = useSignal(false);
  const labels = entriesAt(object.metadata, 'labels');
  const annotations = entriesAt(object.metadata, 'annotations');
  const { namespace } = route;
  return (
    <>
      {labels.length > 0 && (
        <section class="details">
          <h2>{labels.length > mostShown ? `Labels (${mostShown} of ${labels.length})` : 'Labels'}</h2>
          <ul class="chips">
            {labels.slice(0, mostShown).map(([key, value]) => (
              <li key={key}>
                <a
                  href={formatRoute({ ...listRoute(route, namespace), labels: `${key}=${value}` })}
                  title="All that have this label"
                >
                  {key}
                  <span>{value}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      {annotations.length > 0 && (
        <details
          class="details"
          onToggle={(event) => {
            isOpen.value = event.currentTarget.open;
          }}
        >
          <summary>
            Annotations ({annotations.length > mostShown ? `${mostShown} of ${annotations.length}` : annotations.length}
            )
          </summary>
          {isOpen.value && (
            <dl>
              {annotations.slice(0, mostShown).map(([key]) => (
                <div key={key}>
                  <dt>{key}</dt>
                  <dd>
                    <code>{textAt(object.metadata, 'annotations', key)}</code>
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </details>
      )}
    </>
  );
}
