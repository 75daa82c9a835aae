import type { RequestInfo } from '../../base/machinery/request-context.js';
import { oneSeat, unwatchedWrite, type WorkEstimate } from './work.js';

/** What is known about the objects of a request. */
export interface ResourceUsage {
  /** The number of objects in the namespace or, if that is unknown, in total; undefined if they were never counted. */
  readonly objects: number | undefined;
  /** Whether lists of the objects are served from memory. */
  readonly isInMemory: boolean;
  /** The number of watches that receive a change to one of the objects. */
  readonly watchers: number;
}

/** Looks up the usage of a resource; `namespace` and `name` are empty for all objects and for unknown names. */
export type FindUsage = (info: Pick<RequestInfo, 'apiGroup' | 'resource' | 'namespace' | 'name'>) => ResourceUsage;

/** Bounds on the seats of one request. */
export interface SeatBounds {
  readonly list: number;
  readonly mutating: number;
}

const objectsPerSeat = 100;
const watchersPerSeat = 10;
/** Parsing this many characters of selectors takes as long as handling the objects of one seat. */
const selectorCharactersPerSeat = 8 * 1024;
/** How long notifying the watchers of one seat takes, in milliseconds. */
const eventMs = 5;
/** Number of seats for a review that lists all rules of a user, of which there may be thousands. */
const rulesReviewSeats = 10;
const mostListSeats = 100;
const mostMutatingSeats = 10;
/** Maximum fraction of its level's seats that one request gets, so that several can run concurrently. */
const mostOfLevel = 0.15;

/** The bounds for the requests of a level with this nominal limit. */
export function seatBounds(nominalSeats: number): SeatBounds {
  const part = Math.max(1, Math.ceil(nominalSeats * mostOfLevel));
  return { list: Math.min(part, mostListSeats), mutating: Math.min(part, mostMutatingSeats) };
}

const mutatingVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/**
 * Estimates the work of a request before it starts: for a list, and for a watch that begins with one, from the objects
 * that it reads and sends; for a write from the watches that receive the change. A long selector takes seats by its
 * length, because it has to be parsed; comparing an object then takes as long as with a short selector. Every other
 * request takes one seat.
 */
export function estimateWork(
  info: RequestInfo,
  query: URLSearchParams,
  findUsage: FindUsage,
  bounds: SeatBounds,
): WorkEstimate {
  if (!info.isResourceRequest) return oneSeat;
  const { verb } = info;
  if (verb === 'list' || verb === 'deletecollection' || verb === 'watch') {
    const isCollection = info.name === '' && info.subresource === '';
    const isListed = isCollection && (verb !== 'watch' || startsWithObjects(query));
    return readingWork(selectorSeats(query) + (isListed ? listSeats(query, findUsage(info)) : 0), bounds.list);
  }
  if (verb === 'create' && info.resource === 'selfsubjectrulesreviews')
    return readingWork(rulesReviewSeats, bounds.list);
  if (mutatingVerbs.has(verb) && !isReview(info)) return writeWork(findUsage(info).watchers, bounds.mutating);
  return oneSeat;
}

/** Whether a watch first sends the existing objects. */
function startsWithObjects(query: URLSearchParams): boolean {
  const asked = query.get('sendInitialEvents');
  if (asked !== null) return !/^(?:0|f|false)$/i.test(asked);
  const version = query.get('resourceVersion') ?? '';
  return version === '' || version === '0';
}

/** How long the thread works on one event for one watch, in milliseconds: for any object, and for each byte of it. */
const msOfEvent = 0.05;
const msOfEventByte = 1e-6;

/** How long the thread works on the events of a write, in milliseconds. */
export function eventsWork({ watchers = 0 }: WorkEstimate, bodyBytes: number): number {
  return watchers * (msOfEvent + bodyBytes * msOfEventByte);
}

/** Whether a create stores nothing that a watch could receive: tokens and reviews. */
function isReview({ verb, resource, subresource }: RequestInfo): boolean {
  return verb === 'create' && (subresource === 'token' || resource.endsWith('reviews'));
}

function readingWork(wanted: number, most: number): WorkEstimate {
  const seats = Math.min(most, Math.max(1, Math.ceil(wanted)));
  return seats === 1 ? oneSeat : { initialSeats: seats, finalSeats: 0, additionalLatencyMs: 0 };
}

function selectorSeats(query: URLSearchParams): number {
  const characters = (query.get('labelSelector')?.length ?? 0) + (query.get('fieldSelector')?.length ?? 0);
  return Math.floor(characters / selectorCharactersPerSeat);
}

function listSeats(query: URLSearchParams, { objects, isInMemory }: ResourceUsage): number {
  if (objects === undefined) return 0;
  const limit = Number(query.get('limit') ?? 0);
  const sent = limit > 0 ? Math.min(limit, objects) : objects;
  const isSelected = Boolean(query.get('labelSelector')) || Boolean(query.get('fieldSelector'));
  const examined = isSelected ? objects : sent;
  // Objects in memory need no read, while storage has to read them first.
  const handled = isInMemory ? Math.max(examined, sent) : examined + sent;
  return handled / objectsPerSeat;
}

function writeWork(watchers: number, most: number): WorkEstimate {
  if (watchers === 0) return unwatchedWrite;
  const wanted = Math.ceil(watchers / watchersPerSeat);
  const finalSeats = Math.min(wanted, most);
  // Fewer seats are occupied for longer, so the total work is the same.
  return { initialSeats: 1, finalSeats, additionalLatencyMs: (eventMs * wanted) / finalSeats, watchers };
}
