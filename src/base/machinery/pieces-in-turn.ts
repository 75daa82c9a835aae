import { largeBytes } from './large-work.js';
import { PartyQueue } from './party-queue.js';
import type { RequestContext } from './request-context.js';
import { tenantOf } from './tenant-of.js';

/** Pieces that may begin in one round of the event loop. */
const piecesOfRound = 8;
/** Time after which no more pieces begin in a round, in milliseconds. */
const roundMs = 1;
/**
 * For each of these milliseconds that the pieces of a round took, a round passes without a piece, at most
 * {@link mostRests}. A short request needs a few rounds. It then waits for one long piece, and not for one in each round.
 */
const msPerRest = 2.5;
const mostRests = 6;

/**
 * Runs pieces of long work one after the other: in each round of the event loop a few waiting pieces continue, parties
 * (tenants) taking turns, and within one party the longest waiting first. However many responses are written or bodies
 * are read at one time, everything else waits only for a moment.
 */
export class PiecesInTurn {
  private readonly waiting = new PartyQueue<() => void>();
  private isRunning = false;
  private roundBegan = 0;
  private roundEnded = 0;
  private budgetMs = roundMs;
  /** Rounds that still pass without a piece. */
  private rests = 0;
  /** Whether pieces began in this round. */
  private hasPieces = false;

  /**
   * @param now milliseconds from a fixed point
   * @param hasHalf whether pieces may take as long in a round as all other work before it: in long rounds they would
   *   otherwise fall ever further behind
   */
  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly hasHalf = false,
  ) {}

  /** Resolves when the next piece may be worked on, in a later round. */
  turn(party = ''): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.add(party, resolve);
      if (this.isRunning) return;
      this.isRunning = true;
      setImmediate(this.begin);
    });
  }

  private readonly begin = (): void => {
    this.roundEnded = this.now();
    if (this.isResting()) {
      setImmediate(this.begin);
      return;
    }
    const count = Math.min(this.waiting.size, piecesOfRound);
    if (count === 0) {
      this.isRunning = false;
      return;
    }
    // Immediates set now run in the next round, and the work of each piece runs between two of them.
    setImmediate(this.first);
    for (let i = 1; i < count; i++) setImmediate(this.next);
    setImmediate(this.begin);
  };

  /** Whether this round passes without a piece. It runs right after the pieces of a round. */
  private isResting(): boolean {
    if (this.hasHalf) return false;
    if (this.rests > 0) this.rests -= 1;
    else if (this.hasPieces)
      this.rests = Math.min(mostRests, Math.floor((this.roundEnded - this.roundBegan) / msPerRest));
    this.hasPieces = false;
    return this.rests > 0;
  }

  private readonly first = (): void => {
    this.roundBegan = this.now();
    this.hasPieces = true;
    this.budgetMs = this.hasHalf ? Math.max(roundMs, this.roundBegan - this.roundEnded) : roundMs;
    this.waiting.take()?.item();
  };

  private readonly next = (): void => {
    if (this.now() - this.roundBegan < this.budgetMs) this.waiting.take()?.item();
  };
}

/** The turns of all long responses and bodies of this thread. */
export const longPieces = new PiecesInTurn();

/**
 * Call it before work on a string that blocks the event loop in proportion to its length. Returns undefined for a short
 * string. Otherwise resolves when the work may begin. Without turns, strings that become ready in one round, such as
 * bodies that arrive together, would make all other work wait for all of them.
 */
export function turnFor({ user }: Pick<RequestContext, 'user'>, characters: number): Promise<void> | undefined {
  return characters <= largeBytes ? undefined : longPieces.turn(tenantOf(user?.name ?? ''));
}

/** Text up to this length is parsed, checked and written again within about a millisecond, whatever its structure. */
const shortWork = 16 * 1024;

/**
 * Like {@link turnFor}, for objects that are parsed, changed, checked and written again, which takes many times as long
 * as passing their text on: a few dozen of 60 KiB that become ready in one round hold up everything else.
 */
export function turnForWork({ user }: Pick<RequestContext, 'user'>, characters: number): Promise<void> | undefined {
  return characters <= shortWork ? undefined : longPieces.turn(tenantOf(user?.name ?? ''));
}

/** Parsing a selector of this many characters takes a tenth of a millisecond. */
const longSelector = 4 * 1024;

/** Like {@link turnFor}, for the selectors of a request, whose parsing takes longer than work on other text. */
export function selectorTurn({ user, query }: Pick<RequestContext, 'user' | 'query'>): Promise<void> | undefined {
  const characters = (query.get('labelSelector')?.length ?? 0) + (query.get('fieldSelector')?.length ?? 0);
  return characters <= longSelector ? undefined : longPieces.turn(tenantOf(user?.name ?? ''));
}
