import { Max, Min } from 'class-validator';
import { Flag } from './flag.js';

const range = { message: 'must be between 1 and 1000000000000000' };

/** How a restored database is fenced. */
export class FenceOptions {
  @Flag({
    name: 'bump',
    type: 'int',
    unit: 'versions',
    usage: 'How many versions to skip after the newest one in the database; must exceed the writes since the backup.',
  })
  @Min(1, range)
  @Max(1_000_000_000_000_000, range)
  readonly bump: number = 1_000_000_000;

  @Flag({
    name: 'force',
    type: 'bool',
    usage: 'Fence even while servers are connected. They notice and continue, but all their watches end.',
  })
  readonly force: boolean = false;
}
