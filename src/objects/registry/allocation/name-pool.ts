import { randomInt } from 'node:crypto';
import type { Allocation, AllocationOwner, AllocationSurvey } from './allocation.js';
import type { Allocations } from './allocations.js';

/** A numbered set of names to allocate from. */
export interface NameRange {
  readonly size: number;
  at(offset: number): string;
  /**
   * How many names at the start are reserved for clients that request a particular name, as long as other names are
   * left. So a request for a low name seldom fails.
   */
  readonly keptForAsking: number;
}

/** How many random names to try before a survey. A survey of a small range costs less than a few of them. */
const blindTries = 16;
const blindTriesOfSmall = 3;
const smallRange = 4096;
const surveyTries = 32;
/** How long free names are taken from a survey, in milliseconds. */
const surveyKeptMs = 5_000;

/**
 * Takes free names from a range: tries random ones first, and reads all allocations once the range fills up. One such
 * survey serves many allocations, and only one runs at a time, so that a client that requests names of a full range
 * does not keep the database busy.
 */
export class NamePool {
  private last: { readonly survey: AllocationSurvey; readonly at: number } | undefined;
  private running: Promise<AllocationSurvey> | undefined;
  private following: Promise<AllocationSurvey> | undefined;

  /** @param now milliseconds from a fixed point */
  constructor(
    private readonly allocations: Allocations,
    private readonly range: NameRange,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Allocates a free name; undefined when none is left.
   *
   * @param held names that the owner has already: to allocate one again would mark it as wanted by two writes
   */
  async takeAny(owner: AllocationOwner, held: ReadonlySet<string> = new Set()): Promise<Allocation | undefined> {
    const { recent } = this;
    if (recent === undefined) {
      for (const name of this.blindNames()) {
        if (held.has(name)) continue;
        const allocation = await this.take(name, owner);
        if (allocation !== undefined) return allocation;
      }
    } else {
      const allocation = await this.takeOneOf(this.freeNames(recent), recent, owner, held);
      if (allocation !== undefined) return allocation;
    }
    const survey = await this.survey();
    return this.takeOneOf([...this.freeNames(survey), ...someOf(survey.settled)], survey, owner, held);
  }

  /** A name that is free now, without taking it; undefined when there is none. */
  async findAny(owner: AllocationOwner, except: ReadonlySet<string>): Promise<string | undefined> {
    const { recent } = this;
    if (recent === undefined) {
      for (const name of this.blindNames()) {
        if (!except.has(name) && !(await this.allocations.isTaken(name, owner))) return name;
      }
    }
    return (recent && this.lastFree(recent, except)) ?? this.lastFree(await this.survey(), except);
  }

  private lastFree({ taken }: AllocationSurvey, except: ReadonlySet<string>): string | undefined {
    for (let offset = this.range.size - 1; offset >= 0; offset--) {
      const name = this.range.at(offset);
      if (!taken.has(name) && !except.has(name)) return name;
    }
    return undefined;
  }

  private get recent(): AllocationSurvey | undefined {
    return this.last !== undefined && this.now() - this.last.at < surveyKeptMs ? this.last.survey : undefined;
  }

  /** A survey that begins after the call; all callers that wait for one share it. */
  private survey(): Promise<AllocationSurvey> {
    if (this.running === undefined) return this.begin();
    this.following ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.following = undefined;
        return this.begin();
      });
    return this.following;
  }

  private begin(): Promise<AllocationSurvey> {
    const running = this.allocations.survey().then((survey) => {
      this.last = { survey, at: this.now() };
      return survey;
    });
    this.running = running;
    const ended = () => {
      if (this.running === running) this.running = undefined;
    };
    running.then(ended, ended);
    return running;
  }

  private *blindNames(): Iterable<string> {
    const { size, keptForAsking } = this.range;
    const tries = size <= smallRange ? blindTriesOfSmall : blindTries;
    for (let i = 0; i < tries; i++) yield this.range.at(randomInt(keptForAsking, size));
  }

  /** Names that a survey found free: from a random place to the end, then from the start, the reserved part last. */
  private freeNames({ taken }: AllocationSurvey): string[] {
    const { size, keptForAsking } = this.range;
    const start = randomInt(keptForAsking, size);
    const names: string[] = [];
    for (let i = 0; i < size && names.length < surveyTries; i++) {
      const turn = size - keptForAsking;
      const offset = i < turn ? keptForAsking + ((start - keptForAsking + i) % turn) : i - turn;
      const name = this.range.at(offset);
      if (!taken.has(name)) names.push(name);
    }
    return names;
  }

  private async takeOneOf(
    names: readonly string[],
    { taken }: AllocationSurvey,
    owner: AllocationOwner,
    held: ReadonlySet<string>,
  ): Promise<Allocation | undefined> {
    for (const name of names) {
      if (held.has(name)) continue;
      // Other users of this survey need not try the name.
      taken.add(name);
      const allocation = await this.take(name, owner);
      if (allocation !== undefined) return allocation;
    }
    return undefined;
  }

  private async take(name: string, owner: AllocationOwner): Promise<Allocation | undefined> {
    const allocation = await this.allocations.take(name, owner);
    // A name that two writes of one owner share is left alone.
    return allocation?.token === '' ? undefined : allocation;
  }
}

/** A few of the names: checking one costs several reads, and a repair frees those that are left over. */
function someOf(names: readonly string[]): string[] {
  if (names.length <= surveyTries) return [...names];
  const start = randomInt(names.length);
  return Array.from({ length: surveyTries }, (_, i) => names[(start + i) % names.length] as string);
}
