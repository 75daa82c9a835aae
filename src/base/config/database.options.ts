import { Check } from './check.js';
import { Flag } from './flag.js';
import { postgresPortFlag } from './shared-flags.js';

/** The database that runs on this machine. */
export class DatabaseOptions {
  @Flag({
    name: 'data-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder of the database, and of a file with its URL.',
  })
  readonly dataDir: string = '.plinth';

  @Flag(postgresPortFlag)
  @Check<number>('port', (value) => (value >= 0 && value <= 65535 ? undefined : 'must be between 0 and 65535'))
  readonly postgresPort: number | undefined = undefined;
}
