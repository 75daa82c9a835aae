import { signal } from '@preact/signals';
import { Api } from './api.js';
import { discover, type Kinds } from './kinds.js';
import { moment, sought } from './moment.js';
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

/**
 * The scripts' half of the session's secrets. It is of no use without the cookie, which scripts can't read, and is kept for the
 * other tabs of this origin.
 */
const keyName = 'plinth-console-key';

function storage<T>(use: (store: Storage) => T): T | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}

let key: string | undefined = storage((store) => store.getItem(keyName)) ?? undefined;

/** The current user; undefined: not known yet; null: nobody is logged in. */
export const session = signal<LoggedIn | null | undefined>(undefined);
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

/** Resumes the session of another tab or of before a reload. */
export async function resume(): Promise<void> {
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

/** Logs in with pasted credentials. Throws an ApiFault with the reason for a refusal. */
export async function login(text: string): Promise<void> {
  const body = JSON.stringify({ login: text });
  const answer = await api.json<LoggedIn & { readonly key: string }>('/console/login', { method: 'POST', body });
  key = answer.key;
  storage((store) => store.setItem(keyName, answer.key));
  session.value = answer;
  loginProblem.value = '';
  await loadKindsAtLast();
}

export async function logout(): Promise<void> {
  await api.text('/console/logout', { method: 'POST', body: '{}' }).catch(() => {});
  forget('');
}

function forget(why: string): void {
  key = undefined;
  storage((store) => store.removeItem(keyName));
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

// A logout in one tab is one in all.
addEventListener('storage', ({ key: name, newValue }) => {
  if (name === keyName && newValue === null && session.value) forget('');
});
