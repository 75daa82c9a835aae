import { Check } from './check.js';
import { Flag } from './flag.js';

/** The database that runs on this machine. */
export class DatabaseOptions {
  @Flag({
    name: 'data-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder of the database, and of a file with its URL.',
  })
  readonly dataDir: string = '.plinth';

  @Flag({
    name: 'postgres-port',
    type: 'int',
    unit: 'port',
    usage:
      'Port of 127.0.0.1 on which roles of your own log in to the database; 0: none. ' +
      'Unset: any, the same at every start; postgres.json in --data-dir says which.',
  })
  @Check<number>('port', (value) => (value >= 0 && value <= 65535 ? undefined : 'must be between 0 and 65535'))
  readonly postgresPort: number | undefined = undefined;
}
