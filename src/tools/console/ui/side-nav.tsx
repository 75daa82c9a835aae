import { signal, useComputed, useSignal } from '@preact/signals';
import { favourites, folded, savedViews, toggled } from './favourites.js';
import { Icon, type IconName } from './icons.js';
import { titleOfKind } from './kind-title.js';
import { canList, type Kind, searchKinds } from './kinds.js';
import { keyOfKind, type NavGroup, type NavKind, navGroups } from './nav-groups.js';
import { chosenNamespace, go, route } from './navigation.js';
import { formatRoute, listRoute, type Route } from './routes.js';
import { kinds, loadKinds, session } from './session.js';

/** Whether the navigation covers the page, on narrow screens. */
export const navShown = signal(false);

interface Place {
  readonly title: string;
  readonly icon: IconName;
  readonly to: () => Route;
}

const places: readonly Place[] = [
  { title: 'Overview', icon: 'overview', to: () => ({ page: 'home' }) },
  { title: 'Map', icon: 'map', to: () => ({ page: 'map', namespace: chosenNamespace.value }) },
  { title: 'Helm', icon: 'helm', to: () => ({ page: 'helm', namespace: chosenNamespace.value }) },
  { title: 'SQL', icon: 'sql', to: () => ({ page: 'sql' }) },
  { title: 'Server', icon: 'server', to: () => ({ page: 'server' }) },
];

// Another page is shown: the navigation no longer covers it.
route.subscribe(() => {
  navShown.value = false;
});

/** Leads to every page: by purpose, or by name. */
export function SideNav() {
  const text = useSignal('');
  const groups = useComputed(() => (kinds.value === undefined ? [] : navGroups(kinds.value)));
  const all = kinds.value?.all.filter(canList) ?? [];
  const isSearching = text.value.trim() !== '';
  const hasSql = session.value?.sql === true;
  const found = isSearching ? searchKinds(all, text.value) : [];
  return (
    <nav aria-label="Pages" class={navShown.value ? 'shown' : ''}>
      <KindSearch text={text.value} set={(value) => (text.value = value)} first={found[0]} />
      {isSearching ? (
        <Found kinds={found} text={text.value} />
      ) : (
        <>
          <ul class="places">
            {places
              .filter(({ title }) => title !== 'SQL' || hasSql)
              .map(({ title, icon, to }) => (
                <li key={title}>
                  <a href={formatRoute(to())} aria-current={isPlace(to().page) ? 'page' : undefined}>
                    <Icon name={icon} />
                    {title}
                  </a>
                </li>
              ))}
          </ul>
          <Favourites all={all} />
          <Views />
          {groups.value.map((group) => (
            <Group key={group.purpose} group={group} />
          ))}
        </>
      )}
    </nav>
  );
}

interface KindSearchProps {
  readonly text: string;
  readonly set: (text: string) => void;
  /** Where Enter leads. */
  readonly first: Kind | undefined;
}

function KindSearch({ text, set, first }: KindSearchProps) {
  return (
    <div class="seek">
      <Icon name="search" />
      <input
        id="find-kind"
        type="search"
        aria-label="Find a kind"
        placeholder="Find a kind (:)"
        autocomplete="off"
        value={text}
        onInput={(event) => set(event.currentTarget.value)}
        onFocus={() => void loadKinds().catch(() => {})}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || first === undefined) return;
          set('');
          event.currentTarget.blur();
          navShown.value = false;
          go(listOf(first));
        }}
      />
    </div>
  );
}

function Found({ kinds: found, text }: { readonly kinds: readonly Kind[]; readonly text: string }) {
  return (
    <section>
      {found.length === 0 && <p class="quiet nothing">No kind has this name.</p>}
      <ul>
        <li>
          <a href={formatRoute({ page: 'search', text: text.trim() })}>Objects named “{text.trim()}”</a>
        </li>
        {found.slice(0, 40).map((kind) => (
          <KindLink key={keyOfKind(kind)} entry={{ kind, title: titleOfKind(kind), hint: kind.group }} />
        ))}
      </ul>
    </section>
  );
}

function Favourites({ all }: { readonly all: readonly Kind[] }) {
  const kept = favourites.value
    .map((key) => all.find((kind) => keyOfKind(kind) === key))
    .filter((kind) => kind !== undefined);
  if (kept.length === 0) return null;
  return (
    <section>
      <h2>Favourites</h2>
      <ul>
        {kept.map((kind) => (
          <KindLink key={keyOfKind(kind)} entry={{ kind, title: titleOfKind(kind), hint: '' }} />
        ))}
      </ul>
    </section>
  );
}

function Views() {
  if (savedViews.value.length === 0) return null;
  return (
    <section>
      <h2>Saved filters</h2>
      <ul>
        {savedViews.value.map(({ name, address }) => (
          <li key={name}>
            <a href={address}>{name}</a>
            <button
              type="button"
              class="star"
              aria-label={`Remove ${name}`}
              title="Remove"
              onClick={() => {
                savedViews.value = savedViews.value.filter((each) => each.name !== name);
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Group({ group: { purpose, title, kinds: members } }: { readonly group: NavGroup }) {
  const isCurrent = members.some(({ kind }) => isShown(kind));
  const isOpen = !folded.value.includes(purpose);
  const list = `nav-${purpose}`;
  return (
    <section>
      <h2>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={list}
          onClick={() => {
            folded.value = toggled(folded.value, purpose);
          }}
        >
          <Icon name={purpose} />
          {title}
          <span class="gap" />
          <Icon name="chevron" />
        </button>
      </h2>
      <ul id={list}>
        {members
          .filter(({ kind }) => isOpen || (isCurrent && isShown(kind)))
          .map((entry) => (
            <KindLink key={keyOfKind(entry.kind)} entry={entry} />
          ))}
      </ul>
    </section>
  );
}

function KindLink({ entry: { kind, title, hint } }: { readonly entry: NavKind }) {
  const key = keyOfKind(kind);
  const isKept = favourites.value.includes(key);
  return (
    <li>
      <a href={formatRoute(listOf(kind))} aria-current={isShown(kind) ? 'page' : undefined} title={key}>
        {title}
        {hint !== '' && <small>{hint}</small>}
      </a>
      <button
        type="button"
        class="star"
        aria-pressed={isKept}
        aria-label={isKept ? `No longer keep ${title} at the top` : `Keep ${title} at the top`}
        title={isKept ? 'Remove from favourites' : 'Add to favourites'}
        onClick={() => {
          favourites.value = toggled(favourites.value, key);
        }}
      >
        <Icon name="star" isFull={isKept} />
      </button>
    </li>
  );
}

function isPlace(page: Route['page']): boolean {
  const shown = route.value.page;
  return shown === page || (shown === 'release' && page === 'helm');
}

function listOf(kind: Kind): Route {
  return listRoute(kind, kind.namespaced ? chosenNamespace.value : '');
}

function isShown({ group, resource }: Kind): boolean {
  const shown = route.value;
  return (shown.page === 'list' || shown.page === 'object') && shown.group === group && shown.resource === resource;
}
