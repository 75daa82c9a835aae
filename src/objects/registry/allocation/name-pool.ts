import { randomInt } from 'node:crypto';
import type { Allocation, AllocationOwner } from './allocation.js';
import type { Allocations } from './allocations.js';

/** A numbered set of names to allocate from. */
export interface NameRange {
  readonly size: number;
  at(offset: number): string;
  /**
   * How many names at the start are reserved for clients that request a certain one, as long as others are left. So a
   * request for a low name seldom fails.
   */
  readonly keptForAsking: number;
}

const blindTries = 16;
const surveyTries = 32;

/** Takes free names from a range: tries random ones first, and reads all allocations once the range fills up. */
export class NamePool {
  constructor(
    private readonly allocations: Allocations,
    private readonly range: NameRange,
  ) {}

  /** Allocates a free name; undefined when none is left. */
  async takeAny(owner: AllocationOwner): Promise<Allocation | undefined> {
    const { size, keptForAsking } = this.range;
    for (let i = 0; i < blindTries; i++) {
      const allocation = await this.allocations.take(this.range.at(randomInt(keptForAsking, size)), owner);
      // A name that two writes of one owner share is left alone.
      if (allocation !== undefined && allocation.token !== '') return allocation;
    }
    return this.takeFromSurvey(owner);
  }

  /** A name that is free now, without taking it; undefined when there is none. */
  async findAny(owner: AllocationOwner, except: ReadonlySet<string>): Promise<string | undefined> {
    const { size, keptForAsking } = this.range;
    for (let i = 0; i < blindTries; i++) {
      const name = this.range.at(randomInt(keptForAsking, size));
      if (!except.has(name) && !(await this.allocations.isTaken(name, owner))) return name;
    }
    const { taken } = await this.allocations.survey();
    for (let offset = size - 1; offset >= 0; offset--) {
      const name = this.range.at(offset);
      if (!taken.has(name) && !except.has(name)) return name;
    }
    return undefined;
  }

  private async takeFromSurvey(owner: AllocationOwner): Promise<Allocation | undefined> {
    const { taken, settled } = await this.allocations.survey();
    const { size, keptForAsking } = this.range;
    const start = randomInt(keptForAsking, size);
    const candidates: string[] = [];
    // From a random place to the end, then from the start, the reserved part last.
    for (let i = 0; i < size && candidates.length < surveyTries; i++) {
      const turn = size - keptForAsking;
      const offset = i < turn ? keptForAsking + ((start - keptForAsking + i) % turn) : i - turn;
      const name = this.range.at(offset);
      if (!taken.has(name)) candidates.push(name);
    }
    for (const name of [...candidates, ...settled]) {
      const allocation = await this.allocations.take(name, owner);
      if (allocation !== undefined && allocation.token !== '') return allocation;
    }
    return undefined;
  }
}
