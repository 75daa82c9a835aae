import assert from 'node:assert/strict';
import type { ApiClient, WatchEvent, WatchStream } from './api-client.js';

/* Functions for the suites about watches of ConfigMaps. */

export type Labels = Readonly<Record<string, string>>;

let counter = 0;

/** Creates a namespace and returns the path of its ConfigMaps. */
export async function ownCollection(client: ApiClient): Promise<string> {
  const name = `watch-${counter++}`;
  const made = await client.post('/api/v1/namespaces', { metadata: { name } });
  assert.equal(made.status, 201, made.text);
  return `/api/v1/namespaces/${name}/configmaps`;
}

export async function create(client: ApiClient, path: string, name: string, labels: Labels = {}, n = '0') {
  const answer = await client.post(path, { metadata: { name, labels }, data: { n } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

export async function patch(client: ApiClient, path: string, name: string, body: object) {
  const answer = await client.patch(`${path}/${name}`, 'merge', body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export const setN = (client: ApiClient, path: string, name: string, n: string) =>
  patch(client, path, name, { data: { n } });
export const setLabels = (client: ApiClient, path: string, name: string, labels: Record<string, string | null>) =>
  patch(client, path, name, { metadata: { labels } });

export async function remove(client: ApiClient, path: string, name: string) {
  const answer = await client.delete(`${path}/${name}`);
  assert.equal(answer.status, 200, answer.text);
}

export const listVersion = async (client: ApiClient, path: string): Promise<string> =>
  (await client.get(path)).body.metadata.resourceVersion;

export const versionOf = (event: WatchEvent): bigint => BigInt(event.object.metadata.resourceVersion);
export const brief = (event: WatchEvent) =>
  `${event.type} ${event.object.metadata.name} ${event.object.data?.n ?? ''}`.trim();

export async function watch(client: ApiClient, path: string, query: string, accept?: string): Promise<WatchStream> {
  const stream = await client.watch(`${path}?watch=1&${query}`, accept === undefined ? {} : { headers: { accept } });
  assert.equal(stream.status, 200, `${path}?watch=1&${query}`);
  return stream;
}

/** All events until the server ends the watch. */
export async function readAll(stream: WatchStream, timeoutMs = 60_000): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for (let event = await stream.next(timeoutMs); event !== undefined; event = await stream.next(timeoutMs)) {
    events.push(event);
  }
  return events;
}

/**
 * All events of successive short watches, which therefore send bookmarks early. Each watch continues where the one
 * before ended, until `isDone`.
 */
export async function follow(
  open: (query: string) => Promise<WatchStream>,
  from: string,
  isDone: (events: readonly WatchEvent[]) => boolean,
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  while (!isDone(events)) {
    const last = events.at(-1);
    const version = last === undefined ? from : versionOf(last);
    const stream = await open(`resourceVersion=${version}&allowWatchBookmarks=true&timeoutSeconds=3`);
    events.push(...(await readAll(stream)));
  }
  return events;
}

/** All events up to the first one at `version` or a newer version; then closes the stream. */
export async function readUpTo(stream: WatchStream, version: string): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for (;;) {
    const event = await stream.next(60_000);
    assert.ok(event !== undefined, `ended before ${version}`);
    events.push(event);
    if (versionOf(event) < BigInt(version)) continue;
    stream.close();
    return events;
  }
}

export const isBookmark = ({ type }: WatchEvent): boolean => type === 'BOOKMARK';

/** Writes one more object and reads until its event arrives, with all events that must come before it. */
export async function readUpToMark(
  client: ApiClient,
  stream: WatchStream,
  path: string,
  labels: Labels = {},
): Promise<WatchEvent[]> {
  const name = `mark-${counter++}`;
  await create(client, path, name, labels);
  const events: WatchEvent[] = [];
  for (;;) {
    const [event] = await stream.take(1);
    assert.ok(event !== undefined);
    if (event.object.metadata.name === name) return events;
    events.push(event);
  }
}

/** Whether the event is the bookmark at the end of the initial events. */
export const isEnd = (event: WatchEvent): boolean =>
  event.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
/** The query of a watch with initial events. */
export const streaming = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
