import { ClusterChoice } from './cluster-choice.js';
import { showHelp } from './help.js';
import { Icon } from './icons.js';
import { Logo } from './logo.js';
import { adjust, chosenNamespace, go, route } from './navigation.js';
import type { ResourceName } from './routes.js';
import { kinds, type LoggedIn, logout, namespaces } from './session.js';
import { navShown } from './side-nav.js';
import { toggleTheme } from './theme.js';
import { isOpen } from './time-machine.js';

/** The bar at the top: which page is shown, and who is logged in. */
export function Header({ login, toggleTime }: { readonly login: LoggedIn; readonly toggleTime: () => void }) {
  return (
    <header class="bar">
      <button
        type="button"
        class="plain menu"
        aria-label="Pages"
        aria-expanded={navShown.value}
        onClick={() => {
          navShown.value = !navShown.value;
        }}
      >
        <Icon name="menu" />
      </button>
      <a class="brand" href="#/" aria-label="Plinth: overview">
        <Logo />
        <span>Plinth</span>
      </a>
      <ClusterChoice />
      <NamespaceChoice />
      <button
        type="button"
        class="plain time"
        aria-pressed={isOpen.value}
        aria-label="Time machine"
        title="Time machine: look at any moment of the past (T)"
        onClick={toggleTime}
      >
        <Icon name="time" /> <span>Time</span>
      </button>
      <span class="gap" />
      <span class="server" title="The server">
        {login.server.replace(/^https?:\/\//, '')}
      </span>
      <span class="user" title={login.user.groups.join(', ')}>
        {login.user.name || 'logged in'}
      </span>
      {login.readOnly === true ? (
        <span class="read-only" title="This console lets nobody change anything">
          Read-only
        </span>
      ) : (
        <button
          type="button"
          class="plain wide-only"
          onClick={() => go({ page: 'create' })}
          title="Create from YAML (c)"
        >
          <Icon name="create" /> Create
        </button>
      )}
      <button type="button" class="plain" onClick={toggleTheme} title="Light or dark (t)" aria-label="Light or dark">
        <Icon name="theme" />
      </button>
      <button type="button" class="plain wide-only" onClick={() => showHelp(true)} title="Keys (?)" aria-label="Help">
        ?
      </button>
      <button type="button" class="plain" onClick={() => void logout()}>
        Log out
      </button>
    </header>
  );
}

function NamespaceChoice() {
  const shown = route.value;
  const isOfNamespace =
    shown.page === 'map' || shown.page === 'changes' || shown.page === 'restore' || shown.page === 'helm';
  const isWide = shown.page === 'list' && isClusterWide(shown);
  const namespace = (shown.page === 'list' && !isWide) || isOfNamespace ? shown.namespace : chosenNamespace.value;
  const choose = (name: string) => {
    chosenNamespace.value = name;
    if (isWide) return;
    if (shown.page === 'list') {
      const { open: _, ...list } = shown;
      go({ ...list, namespace: name });
    } else if (shown.page === 'map' || shown.page === 'changes' || shown.page === 'helm')
      go({ ...shown, namespace: name });
    else if (shown.page === 'restore') go({ page: 'restore', namespace: name, of: '' });
    else if (shown.page === 'home') adjust(shown);
  };
  return (
    <label class="field">
      <span class="unseen">Namespace</span>
      <input
        id="namespace"
        list="namespaces"
        placeholder="All namespaces"
        autocomplete="off"
        title="Namespace (n)"
        key={namespace}
        defaultValue={namespace}
        onChange={(event) => choose(event.currentTarget.value.trim())}
        onFocus={(event) => event.currentTarget.select()}
      />
      {namespace !== '' && (
        <button
          type="button"
          class="plain"
          aria-label="All namespaces"
          title="All namespaces"
          onClick={() => choose('')}
        >
          <Icon name="close" />
        </button>
      )}
      <datalist id="namespaces">
        {namespaces.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

/** Whether the objects of a kind are in no namespace. */
function isClusterWide({ group, version, resource }: ResourceName): boolean {
  const kind = kinds.value?.all.find(
    (each) => each.group === group && each.version === version && each.resource === resource,
  );
  return kind?.namespaced === false;
}
