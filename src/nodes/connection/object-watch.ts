import type { ApiObject } from '../../base/machinery/api-object.js';
import { Backoff } from '../../base/machinery/backoff.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ListOf } from '../../objects/apis/meta/v1/list-kind.types.js';
import type { ApiUser } from './api-connection.js';
import { ApiError } from './api-error.js';

export interface ObjectWatchDependencies<T extends ApiObject> {
  readonly api: ApiUser;
  /** The path of the objects: `/api/v1/pods`. */
  readonly path: string;
  /** Further parameters of the list and the watch, such as selectors. */
  readonly query?: Readonly<Record<string, string>>;
  readonly timers: Timers;
  readonly random: () => number;
  readonly logger: Logger;
  /** Receives every new or changed object. */
  readonly onObject: (object: T) => void;
  /** Receives the uid of an object that is gone. */
  readonly onGone: (uid: string) => void;
  /** Takes what went wrong with a list or a watch, which is tried again. */
  readonly onFailure?: (error: unknown) => void;
  /** Called after each list, when all of it has been handed over. */
  readonly onListed?: () => void;
  /** The uids of all objects that were reported and are not known to be gone. */
  readonly known: () => Iterable<string>;
}

/** The status in an ERROR event. */
interface Failure {
  readonly code?: number;
  readonly message?: string;
}

const firstPauseMs = 200;
const longestPauseMs = 10_000;

/**
 * Follows objects until the abort: a list, then a watch, and a new list when the server no longer has the version of
 * the watch.
 */
export async function watchObjects<T extends ApiObject>(
  dependencies: ObjectWatchDependencies<T>,
  signal: AbortSignal,
): Promise<void> {
  const { timers, random, logger } = dependencies;
  let version: string | undefined;
  const backoff = new Backoff({ firstMs: firstPauseMs, longestMs: longestPauseMs });
  while (!signal.aborted) {
    const began = timers.elapsed();
    try {
      version ??= await list(dependencies, signal);
      version = await follow(dependencies, version, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 410) version = undefined;
      else {
        logger.debug('a node lost a watch', { ...dependencies.query, path: dependencies.path, error });
        dependencies.onFailure?.(error);
      }
    }
    // The pauses spread the watches of many nodes whose server went away.
    if (timers.elapsed() - began > longestPauseMs) backoff.reset();
    await timers.wait(backoff.next() * (0.5 + random()), signal);
  }
}

function pathWith(
  { path, query }: Pick<ObjectWatchDependencies<ApiObject>, 'path' | 'query'>,
  more: Record<string, string>,
) {
  return `${path}?${new URLSearchParams({ ...query, ...more })}`;
}

async function list<T extends ApiObject>(
  dependencies: ObjectWatchDependencies<T>,
  signal: AbortSignal,
): Promise<string> {
  const { api, onObject, onGone, known } = dependencies;
  const path = pathWith(dependencies, { resourceVersion: '0' });
  const found = await api.send<ListOf<T>>('GET', path, { signal });
  const items = found.items ?? [];
  const present = new Set(items.map(({ metadata }) => metadata.uid ?? ''));
  for (const uid of [...known()]) if (!present.has(uid)) onGone(uid);
  for (const object of items) onObject(object);
  dependencies.onListed?.();
  return found.metadata.resourceVersion ?? '';
}

/**
 * Returns the version that the watch has reached when the server ends it. Throws an {@link ApiError} 410 when the
 * server no longer has the version.
 */
async function follow<T extends ApiObject>(
  dependencies: ObjectWatchDependencies<T>,
  from: string,
  signal: AbortSignal,
): Promise<string> {
  const { api, onObject, onGone } = dependencies;
  let version = from;
  const path = pathWith(dependencies, { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: from });
  try {
    for await (const { type, object } of api.events<T & Failure>(path, signal)) {
      if (type === 'ERROR') throw new ApiError(object.code ?? 500, '', object.message ?? 'the watch failed');
      version = object.metadata.resourceVersion ?? version;
      if (type === 'DELETED') onGone(object.metadata.uid ?? '');
      else if (type !== 'BOOKMARK') onObject(object);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The connection ended; the watch continues from here.
  }
  return version;
}
