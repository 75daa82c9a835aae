import { signal } from '@preact/signals';
import { Api } from './api.js';
import { discover, type Kinds } from './kinds.js';
import { moment, sought } from './moment.js';
import { open } from './navigation.js';
import { leaveFor, providerAnswer, takeFlow } from './provider-login.js';
import { chosenCluster, keepCluster, keepKey, keyName, readKey } from './session-keys.js';
import { TimedApi } from './timed-api.js';

/** Who is logged in, and to which server. */
export interface LoggedIn {
  readonly user: { readonly name: string; readonly groups: readonly string[] };
  readonly server: string;
  readonly until: string;
  /** Whether the user may send SQL queries. */
  readonly sql?: boolean;
  /** Whether the console lets nobody change anything. */
  readonly readOnly?: boolean;
}

/** The ways to log in that the console offers. */
export interface Logins {
  /** Names of the clusters; one without a name where there is only one. */
  readonly clusters: readonly string[];
  /** The provider that people log in with; missing where there is none. */
  readonly provider?: string;
}

/** The cluster of this page. Another one is another page: nothing of one stays in the memory of the other. */
let cluster = chosenCluster();
let key: string | undefined = readKey(cluster);

/** The current user; undefined: not known yet; null: nobody is logged in. */
export const session = signal<LoggedIn | null | undefined>(undefined);
/** The name of the current user; undefined while nobody is logged in. */
export const userName = (): string | undefined => session.value?.user.name;
export const loginProblem = signal('');
export const kinds = signal<Kinds | undefined>(undefined);
/** Why the kinds are not known yet; empty where nothing is wrong. */
export const kindsProblem = signal('');
export const namespaces = signal<readonly string[]>([]);

/** Requests about the present, whatever moment the page shows. */
export const liveApi = new Api(() => key, forget);
/** Requests about the moment that the page shows. */
export const api: Api = new TimedApi(
  () => moment.peek()?.version,
  () => key,
  forget,
);

/** What the page offers for a stream: browsers give WebSockets no other place for a secret. */
export function streamProtocols(): string[] {
  return ['v5.channel.k8s.io', `plinth-key.${key ?? ''}`];
}

/** Which clusters there are, and which ways to log in; undefined: not known yet. */
export const logins = signal<Logins | undefined>(undefined);

/** Resumes the session of another tab or of before a reload, or the login for which the browser was at the provider. */
export async function resume(): Promise<void> {
  const answer = providerAnswer();
  try {
    logins.value = await api.json<Logins>('/console/logins');
  } catch (error) {
    forget((error as Error).message);
    return;
  }
  const names = logins.value.clusters;
  if (!names.includes(cluster)) show(names[0] ?? '');
  if (answer !== undefined) return finishLogin(answer);
  if (key === undefined) {
    session.value = null;
    return;
  }
  try {
    session.value = await api.json<LoggedIn>('/console/session');
    loginProblem.value = '';
    await loadKindsAtLast();
  } catch (error) {
    if (session.value === undefined) forget(key === undefined ? '' : (error as Error).message);
  }
}

/** The cluster that the page shows, or that a login is for. */
export function shownCluster(): string {
  return cluster;
}

/** Shows another cluster: by its own session, or its login. */
export function switchCluster(name: string): void {
  keepCluster(name);
  location.hash = '#/';
  location.reload();
}

function show(name: string): void {
  cluster = name;
  key = readKey(name);
}

/** Logs in with pasted credentials. Throws an ApiFault with the reason for a refusal. */
export async function login(text: string): Promise<void> {
  const body = JSON.stringify({ login: text, ...(cluster === '' ? {} : { cluster }) });
  await enter(await api.json<Entered>('/console/login', { method: 'POST', body }));
}

/** Leaves for the provider, which sends the browser back here. Throws an ApiFault where the provider can't be reached. */
export async function loginAtProvider(): Promise<void> {
  const begun = await api.json<{ url: string; key: string }>('/console/oidc/begin', { method: 'POST', body: '{}' });
  leaveFor(begun.url, begun.key);
}

async function finishLogin(answer: string): Promise<void> {
  const flow = takeFlow();
  // The provider is that of the first cluster.
  show(logins.peek()?.clusters[0] ?? '');
  keepCluster(cluster);
  try {
    if (flow === undefined) throw new Error('this login has not begun in this tab: try again');
    const ofFlow = new Api(
      () => flow.key,
      () => {},
    );
    const body = JSON.stringify({ answer });
    const entered = await ofFlow.json<Entered>('/console/oidc/finish', { method: 'POST', body });
    open(flow.fragment);
    await enter(entered);
  } catch (error) {
    forget((error as Error).message);
  }
}

type Entered = LoggedIn & { readonly key: string };

/** Whether somebody has been logged in since the page was loaded. */
let isUsed = false;
session.subscribe((login) => {
  if (login) isUsed = true;
});

async function enter(answer: Entered): Promise<void> {
  key = answer.key;
  keepKey(cluster, answer.key);
  if (isUsed) {
    // Perhaps somebody else: nothing that was read or typed before may stay in the memory of the page.
    session.value = undefined;
    location.reload();
    return;
  }
  session.value = answer;
  loginProblem.value = '';
  await loadKindsAtLast();
}

export async function logout(): Promise<void> {
  await api.text('/console/logout', { method: 'POST', body: '{}' }).catch(() => {});
  leave();
}

let isLeaving = false;

/** Forgets everything that the page knows, by reloading it. */
function leave(): void {
  isLeaving = true;
  key = undefined;
  keepKey(cluster, undefined);
  session.value = undefined;
  location.reload();
}

function forget(why: string): void {
  if (isLeaving) return;
  // The session of a newer login in another tab is not this one's to end.
  if (key !== undefined && key !== readKey(cluster) && session.value) {
    followOtherTabs();
    return;
  }
  key = undefined;
  keepKey(cluster, undefined);
  kinds.value = undefined;
  namespaces.value = [];
  moment.value = undefined;
  sought.value = undefined;
  loginProblem.value = why;
  session.value = null;
}

const retryMs = 2000;

/** Reads kinds and namespaces, again and again while the server can't be reached: nothing can be shown without them. */
async function loadKindsAtLast(): Promise<void> {
  try {
    await loadKinds();
    kindsProblem.value = '';
  } catch (error) {
    kindsProblem.value = (error as Error).message;
    setTimeout(() => {
      if (session.value && kinds.value === undefined) void loadKindsAtLast();
    }, retryMs);
  }
}

/** Reads kinds and namespaces again: definitions come and go. */
export async function loadKinds(): Promise<void> {
  kinds.value = await discover(api);
  const list = await liveApi
    .json<{ readonly items?: readonly { readonly metadata: { readonly name: string } }[] }>(
      '/api/v1/namespaces?limit=1000',
      {
        accept: `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${kinds.value.suffix},application/json`,
      },
    )
    .catch(() => undefined);
  namespaces.value = (list?.items ?? []).map(({ metadata }) => metadata.name);
}

/**
 * A browser has one session of a cluster: a login or logout in one tab is one in all. Whatever the page knows is that of
 * the session before.
 */
function followOtherTabs(): void {
  if (readKey(cluster) === key || isLeaving || session.value === undefined) return;
  isLeaving = true;
  session.value = undefined;
  location.reload();
}

// Without a name, everything was removed.
addEventListener('storage', ({ key: name }) => {
  if (name === keyName(cluster) || name === null) followOtherTabs();
});
// A page that the browser has kept for the way back has heard of nothing meanwhile.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) followOtherTabs();
});
