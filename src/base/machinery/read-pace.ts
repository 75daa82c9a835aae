import type { Socket } from 'node:net';
import { type Line, PartyQueue } from './party-queue.js';

/*
 * Node reads up to 2 MiB from one connection in one turn of the event loop, and hands on all that is in it: frames,
 * heads and chunks of a few bytes. So one peer could hold up all others for a second.
 */

/** How much may be read in a turn of the event loop. A unit is up to a microsecond of work, like a field of a head. */
export interface PaceLimits {
  /** A connection that brings more is read again in a later turn. */
  readonly socketUnits: number;
  /** When the connections of a party bring more together, all of them are read again in later turns. */
  readonly partyUnits: number;
  /** For how long each unusual unit delays the next read, in milliseconds. */
  readonly delayMs: number;
}

/** Connections that are read again in one turn bring about this much together. */
const turnUnits = 4_096;
/** The least that a connection is expected to bring when it is read again. One that brought more is heavy. */
const leastUnits = 64;
/** So many connections that are not heavy are read again before a heavy one. */
const lightOnes = 7;
/** The bytes that are received, decrypted and copied in a unit. */
const bytesOfUnit = 1024;

/** What a piece of a body costs, apart from the work that any piece is. */
export function unitsOf(bytes: number): number {
  return bytes / bytesOfUnit;
}

/** The part of a socket by which Node's own HTTP servers pause it. It has no other that HTTP/2 leaves. */
interface Reading {
  readonly reading?: boolean;
  readStop?(): number;
  readStart?(): number;
}

interface Party {
  readonly name: string;
  readonly sockets: Set<PacedSocket>;
  /** Connections that are read again one by one, as soon as what this party has sent is paid for. */
  readonly delayed: Set<PacedSocket>;
  /** Connections that were never read, which come before those. */
  readonly fresh: Set<PacedSocket>;
  /** Until when, by `performance.now()`. */
  paidAt: number;
  timer: NodeJS.Timeout | undefined;
  turn: number;
  units: number;
}

/** A connection that is read at a pace. */
export interface PacedSocket {
  readonly socket: Socket;
  readonly party: Party;
  /** The turn in which it brought something; 0 for none. */
  turn: number;
  /** What it brought in that turn. */
  units: number;
  isStopped: boolean;
  /** Whether it is not to be read until it is released. */
  isHeld: boolean;
  /** Whether it is in one of the lines of connections that are read again. */
  isWaiting: boolean;
  /** Whether its last read brought something unusual. */
  isCrowded: boolean;
  /** Whether it brought much in one of the last two turns in which it brought something. */
  isHeavy: boolean;
}

/**
 * The connections of a party that are read again: those that bring little come first, so that a short request does not wait
 * for a round of hundreds of long bodies, and most of the turns are theirs.
 */
class LightFirstLine implements Line<PacedSocket> {
  private readonly light = new Set<PacedSocket>();
  private readonly heavy = new Set<PacedSocket>();
  private lightTaken = 0;

  get size(): number {
    return this.light.size + this.heavy.size;
  }

  add(paced: PacedSocket): void {
    (paced.isHeavy ? this.heavy : this.light).add(paced);
  }

  take(): PacedSocket | undefined {
    const isHeavy = this.light.size === 0 || (this.heavy.size > 0 && this.lightTaken >= lightOnes);
    this.lightTaken = isHeavy ? 0 : this.lightTaken + 1;
    const line = isHeavy ? this.heavy : this.light;
    const [first] = line;
    if (first !== undefined) line.delete(first);
    return first;
  }

  remove(paced: PacedSocket): boolean {
    return this.light.delete(paced) || this.heavy.delete(paced);
  }

  *[Symbol.iterator](): Iterator<PacedSocket> {
    yield* this.light;
    yield* this.heavy;
  }
}

/**
 * Bounds what connections bring in each turn of the event loop, by not reading on: a connection that brings much is read
 * again in a later turn, with parties taking turns. What is unusual delays the next read of such connections, and the
 * first of new ones of the same party, so that no party takes more than a part of the processor time.
 */
export class ReadPace {
  private readonly parties = new Map<string, Party>();
  private readonly next = new PartyQueue<PacedSocket>(() => new LightFirstLine());
  private turn = 1;
  private isTurnCounted = false;

  constructor(private readonly limits: PaceLimits) {}

  /** Number of connections that are not read at the moment. */
  get stopped(): number {
    let count = 0;
    for (const { sockets } of this.parties.values()) for (const { isStopped } of sockets) if (isStopped) count++;
    return count;
  }

  /** Paces an open connection until it is closed. Must be called once for each. */
  keep(socket: Socket, name: string): PacedSocket {
    let party = this.parties.get(name);
    if (party === undefined) {
      party = {
        name,
        sockets: new Set(),
        delayed: new Set(),
        fresh: new Set(),
        paidAt: 0,
        timer: undefined,
        turn: 0,
        units: 0,
      };
      this.parties.set(name, party);
    }
    const isCrowded = party.paidAt > performance.now();
    const paced: PacedSocket = {
      socket,
      party,
      turn: 0,
      units: 0,
      isStopped: false,
      isHeld: false,
      isWaiting: false,
      isCrowded,
      isHeavy: false,
    };
    party.sockets.add(paced);
    socket.once('close', () => this.leave(paced));
    if (isCrowded) this.stop(paced);
    return paced;
  }

  /** Counts what a connection has brought. */
  brought(paced: PacedSocket, units: number, unusual = 0): void {
    this.countTurn();
    const { party } = paced;
    const { socketUnits, partyUnits, delayMs } = this.limits;
    if (paced.turn !== this.turn) {
      paced.turn = this.turn;
      paced.isHeavy = paced.units > leastUnits;
      paced.units = 0;
      paced.isCrowded = false;
    }
    if (party.turn !== this.turn) {
      party.turn = this.turn;
      party.units = 0;
    }
    paced.units += units;
    party.units += units;
    if (paced.units > leastUnits) paced.isHeavy = true;
    if (unusual > 0) {
      paced.isCrowded = true;
      party.paidAt = Math.max(party.paidAt, performance.now()) + unusual * delayMs;
    }
    if (paced.units > socketUnits || paced.isHeld) this.stop(paced);
    if (party.units <= partyUnits) return;
    party.units = 0;
    for (const other of party.sockets) this.stop(other);
  }

  /** Lets a connection that is held be read again. */
  release(paced: PacedSocket): void {
    paced.isHeld = false;
    if (paced.isStopped) this.stop(paced);
  }

  private leave(paced: PacedSocket): void {
    const { party } = paced;
    party.sockets.delete(paced);
    party.delayed.delete(paced);
    party.fresh.delete(paced);
    this.next.remove(party.name, paced);
    this.forget(party);
  }

  /** What a party has to pay for is kept longer than its connections. */
  private forget(party: Party): void {
    if (party.sockets.size > 0 || party.timer !== undefined) return;
    if (party.paidAt > performance.now()) this.awaitPayment(party);
    else this.parties.delete(party.name);
  }

  /** Stops reading, and puts the connection into a line unless it is held. */
  private stop(paced: PacedSocket): void {
    if (!paced.isStopped) {
      paced.isStopped = true;
      handleOf(paced)?.readStop?.();
    }
    if (paced.isWaiting || paced.isHeld) return;
    paced.isWaiting = true;
    const { party } = paced;
    if (paced.isCrowded && party.paidAt > performance.now()) {
      (paced.turn === 0 ? party.fresh : party.delayed).add(paced);
      this.awaitPayment(party);
      return;
    }
    this.countTurn();
    this.next.add(party.name, paced);
  }

  private awaitPayment(party: Party): void {
    party.timer ??= setTimeout(
      () => {
        party.timer = undefined;
        const line = party.fresh.size > 0 ? party.fresh : party.delayed;
        const [first] = line;
        if (first !== undefined && party.paidAt <= performance.now()) {
          line.delete(first);
          this.countTurn();
          this.next.add(party.name, first);
        }
        if (party.fresh.size + party.delayed.size > 0) this.awaitPayment(party);
        else this.forget(party);
      },
      Math.max(1, party.paidAt - performance.now()),
    ).unref();
  }

  private countTurn(): void {
    if (this.isTurnCounted) return;
    this.isTurnCounted = true;
    setImmediate(this.nextTurn);
  }

  private readonly nextTurn = (): void => {
    this.isTurnCounted = false;
    this.turn++;
    if (this.next.size === 0) return;
    for (let left = turnUnits; left > 0; ) {
      const paced = this.next.take()?.item;
      if (paced === undefined) return;
      paced.isWaiting = false;
      if (paced.isHeld) continue;
      left -= Math.max(leastUnits, paced.units);
      paced.isStopped = false;
      // Node itself may have paused it, and will then go on itself.
      const handle = handleOf(paced);
      if (handle?.reading !== false) handle?.readStart?.();
    }
    this.countTurn();
  };
}

/** Undefined when the connection is closed. */
function handleOf({ socket }: PacedSocket): Reading | undefined {
  return (socket as Socket & { _handle?: Reading | null })._handle ?? undefined;
}
