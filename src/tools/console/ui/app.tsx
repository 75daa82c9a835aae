import { useLayoutEffect } from 'preact/hooks';
import { Skeleton } from './blank.js';
import { Boundary } from './boundary.js';
import { ChangesPage } from './changes-page.js';
import { CreatePage } from './create-page.js';
import { createRoute } from './create-text.js';
import { Header } from './frame.js';
import { HelmPage } from './helm-page.js';
import { showHelp } from './help.js';
import { HelpDialog } from './help-dialog.js';
import { bindKeys } from './keys.js';
import { ListPage } from './list-page.js';
import { LoginPage } from './login-page.js';
import { MapPage } from './map-page.js';
import { moment, shownVersion, sought } from './moment.js';
import { back, chosenNamespace, go, route } from './navigation.js';
import { ObjectPage } from './object-page.js';
import { OverviewPage } from './overview-page.js';
import { ReleasePage } from './release-page.js';
import { RestorePage } from './restore-page.js';
import { formatRoute } from './routes.js';
import { SearchPage } from './search-page.js';
import { ServerPage } from './server-page.js';
import { kinds, kindsProblem, session } from './session.js';
import { SideNav } from './side-nav.js';
import { SqlPage } from './sql-page.js';
import { toggleTheme } from './theme.js';
import { TimeBar } from './time-bar.js';
import { isOpen, leavePast } from './time-machine.js';

/** The page: a login, or the frame with what the address names. */
export function App() {
  useLayoutEffect(
    () =>
      bindKeys([
        { keys: ['?'], run: () => showHelp(true) },
        { keys: ['t'], run: toggleTheme },
        { keys: ['Escape'], run: back },
        { keys: [':'], run: () => document.getElementById('find-kind')?.focus() },
        { keys: ['n'], run: () => document.getElementById('namespace')?.focus() },
        { keys: ['s'], run: () => go({ page: 'server' }) },
        { keys: ['m'], run: () => go({ page: 'map', namespace: chosenNamespace.value }) },
        { keys: ['c'], run: () => go(createRoute) },
        { keys: ['T'], run: toggleTime },
        { keys: ['F'], run: () => go({ page: 'search', text: '' }) },
      ]),
    [],
  );
  if (session.value === undefined) return <p class="centre">Loading…</p>;
  if (session.value === null) return <LoginPage />;
  const address = `${formatRoute(route.value)} ${shownVersion()}`;
  return (
    <div class={moment.value === undefined ? 'frame' : 'frame in-past'}>
      <Header login={session.value} toggleTime={toggleTime} />
      <Boundary what="navigation" at={address}>
        <SideNav />
      </Boundary>
      {isOpen.value && (
        <Boundary what="slider" at={address}>
          <TimeBar />
        </Boundary>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys have to reach it also where it has no links */}
      <main id="main" tabIndex={0}>
        {kinds.value === undefined ? (
          <div class="page">
            {kindsProblem.value !== '' && <p class="problem notice">{kindsProblem.value} (trying again)</p>}
            <Skeleton lines={10} />
          </div>
        ) : (
          <Boundary what="page" at={address}>
            <Shown />
          </Boundary>
        )}
      </main>
      <HelpDialog />
    </div>
  );
}

function toggleTime(): void {
  if (isOpen.value) leavePast();
  isOpen.value = !isOpen.value;
}

/** Pages that are about the present whatever the slider says. */
const ofNow: ReadonlySet<string> = new Set(['server', 'sql', 'create']);

function Shown() {
  // An address with a time must not show the present, not even for a moment.
  if (moment.value === undefined && sought.value !== undefined) {
    return (
      <div class="page">
        <Skeleton lines={10} />
      </div>
    );
  }
  const isOfNow = moment.value !== undefined && ofNow.has(route.value.page);
  return (
    <>
      {isOfNow && <p class="notice of-now">This page is about the present, not about the moment above.</p>}
      <Page />
    </>
  );
}

function Page() {
  const shown = route.value;
  switch (shown.page) {
    case 'list':
      return <ListPage key={`${shown.group}/${shown.resource}`} route={shown} />;
    case 'object':
      return <ObjectPage key={`${shown.group}/${shown.resource}/${shown.namespace}/${shown.name}`} route={shown} />;
    case 'server':
      return <ServerPage />;
    case 'map':
      return <MapPage namespace={shown.namespace} />;
    case 'sql':
      return <SqlPage />;
    case 'create':
      return <CreatePage />;
    case 'helm':
      return <HelmPage namespace={shown.namespace} />;
    case 'release':
      return <ReleasePage {...shown} />;
    case 'search':
      return <SearchPage text={shown.text} />;
    case 'changes':
      return <ChangesPage namespace={shown.namespace} to={shown.to} />;
    case 'restore':
      return <RestorePage namespace={shown.namespace} of={shown.of} />;
    default:
      return <OverviewPage namespace={chosenNamespace.value} />;
  }
}
