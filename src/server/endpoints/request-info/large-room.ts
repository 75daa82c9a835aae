import { largeBytes } from '../../../base/machinery/large-work.js';
import { noteWait, type RequestContext } from '../../../base/machinery/request-context.js';
import { tenantOf } from '../../../base/machinery/tenant-of.js';
import type { BytesInHand, BytesShare } from '../../flow-control/bytes-in-hand.js';
import type { Seat } from '../../flow-control/seat.js';

/** What a request needs here of its context. */
export interface SharesBytes extends Pick<RequestContext, 'user' | 'waitedMs'> {
  readonly timeLimitMs: number;
  readonly seat: Seat | undefined;
  readonly bytesInHand: BytesInHand | undefined;
  inHand: BytesShare | undefined;
}

/** A request waits in line with a large body or object for this part of its time limit, and no longer than the other time. */
const waitingPart = 1 / 4;
const longestWaitMs = 15_000;

/**
 * Waits until a large body may be read; undefined if it may be read now. Meanwhile others may take the seat.
 *
 * @throws a 429 when too many of the tenant wait
 */
export function roomForBody(context: SharesBytes, bytes: number, inHand: BytesInHand): Promise<void> | undefined {
  const share = enter(context, bytes, inHand, false);
  if (share.granted !== undefined) context.seat?.waitForReader();
  return share.granted;
}

/**
 * Waits until the request may work with a large object that was read from storage; undefined if it may do so now, or has
 * its share already. Meanwhile others may take the seat.
 *
 * @throws a 429 when too many of the tenant wait
 */
export function roomForObject(context: SharesBytes, characters: number): Promise<void> | undefined {
  const { bytesInHand } = context;
  if (characters <= largeBytes || bytesInHand === undefined || context.inHand !== undefined) return undefined;
  const share = enter(context, characters, bytesInHand, true);
  if (share.granted === undefined) {
    share.arrived();
    return undefined;
  }
  const began = performance.now();
  context.seat?.waitForReader();
  return share.granted.then(() => {
    noteWait(context, began);
    share.arrived();
    return context.seat?.resume();
  });
}

/**
 * Refuses a request of a tenant whose requests wait with as many large objects as they may: reading one more would cost
 * as much as answering it.
 *
 * @throws a 429
 */
export function throwIfWaiting(context: SharesBytes): void {
  context.bytesInHand?.throwIfFull(tenantOf(context.user?.name ?? ''), isExempt(context));
}

function enter(context: SharesBytes, bytes: number, inHand: BytesInHand, isRead: boolean): BytesShare {
  const { user, timeLimitMs } = context;
  const share = inHand.enter({
    tenant: tenantOf(user?.name ?? ''),
    bytes,
    waitMs: Math.min(timeLimitMs * waitingPart, longestWaitMs),
    isExempt: isExempt(context),
    isRead,
  });
  context.inHand = share;
  return share;
}

function isExempt({ user }: SharesBytes): boolean {
  return user?.groups.includes('system:masters') ?? false;
}
