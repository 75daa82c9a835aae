import { useSignal } from '@preact/signals';
import { showHelp } from './help.js';
import { canList, type Kind, searchKinds } from './kinds.js';
import { chosenNamespace, go, route } from './navigation.js';
import { formatRoute, type Route } from './routes.js';
import { kinds, type LoggedIn, loadKinds, logout, namespaces, session } from './session.js';
import { toggleTheme } from './theme.js';

export function Header({ login }: { readonly login: LoggedIn }) {
  return (
    <header class="bar">
      <a class="brand" href="#/">
        Plinth
      </a>
      <span class="server" title="The server">
        {login.server}
      </span>
      <NamespaceChoice />
      <span class="gap" />
      <span class="user" title={login.user.groups.join(', ')}>
        {login.user.name || 'logged in'}
      </span>
      <button type="button" onClick={toggleTheme} title="Light or dark (t)" aria-label="Light or dark">
        ◐
      </button>
      <button type="button" onClick={() => showHelp(true)} title="Keys (?)" aria-label="Help">
        ?
      </button>
      <button type="button" onClick={() => void logout()}>
        Log out
      </button>
    </header>
  );
}

function NamespaceChoice() {
  const shown = route.value;
  const namespace = shown.page === 'list' || shown.page === 'map' ? shown.namespace : chosenNamespace.value;
  const choose = (name: string) => {
    chosenNamespace.value = name;
    if (shown.page === 'list' || shown.page === 'map') go({ ...shown, namespace: name });
  };
  return (
    <label class="field">
      <span class="unseen">Namespace</span>
      <input
        id="namespace"
        list="namespaces"
        placeholder="all namespaces"
        autocomplete="off"
        key={namespace}
        defaultValue={namespace}
        onChange={(event) => choose(event.currentTarget.value.trim())}
        onFocus={(event) => event.currentTarget.select()}
      />
      <datalist id="namespaces">
        {namespaces.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

const pages: readonly (readonly [string, () => Route])[] = [
  ['Server', () => ({ page: 'server' })],
  ['Map', () => ({ page: 'map', namespace: chosenNamespace.value })],
];

export function Navigation() {
  const text = useSignal('');
  const found = searchKinds((kinds.value?.all ?? []).filter(canList), text.value);
  const groups = new Map<string, Kind[]>();
  for (const kind of found) groups.set(kind.group, [...(groups.get(kind.group) ?? []), kind]);
  const [first] = found;
  return (
    <nav aria-label="Kinds">
      <input
        id="find-kind"
        type="search"
        aria-label="Find a kind"
        placeholder="Find a kind (:)"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onFocus={() => void loadKinds().catch(() => {})}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || first === undefined) return;
          text.value = '';
          event.currentTarget.blur();
          go(listOf(first));
        }}
      />
      <ul>
        {session.value?.sql === true && (
          <li>
            <a href="#/sql">SQL</a>
          </li>
        )}
        {pages.map(([title, to]) => (
          <li key={title}>
            <a href={formatRoute(to())}>{title}</a>
          </li>
        ))}
      </ul>
      {[...groups].map(([group, members]) => (
        <section key={group}>
          <h2>{group || 'core'}</h2>
          <ul>
            {members.map((kind) => (
              <li key={kind.resource}>
                <a href={formatRoute(listOf(kind))} aria-current={isShown(kind) ? 'page' : undefined}>
                  {kind.resource}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function listOf(kind: Kind): Route {
  const namespace = kind.namespaced ? chosenNamespace.value : '';
  const { group, version, resource } = kind;
  return { page: 'list', group, version, resource, namespace, labels: '', fields: '', text: '' };
}

function isShown({ group, resource }: Kind): boolean {
  const shown = route.value;
  return (shown.page === 'list' || shown.page === 'object') && shown.group === group && shown.resource === resource;
}
