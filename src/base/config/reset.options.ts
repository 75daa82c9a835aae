import { Flag } from './flag.js';
import { dryRunFlag } from './shared-flags.js';

/** What `plinth reset` removes. */
export class ResetOptions {
  @Flag({
    name: 'config-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder that was given to plinth init or plinth join. Default: /etc/plinth for root, ~/.plinth for others.',
  })
  readonly configDir: string | undefined = undefined;

  @Flag({
    name: 'force',
    short: 'f',
    type: 'bool',
    usage: 'Remove without asking first. Needed where there is no terminal.',
  })
  readonly force: boolean = false;

  @Flag(dryRunFlag)
  readonly dryRun: boolean = false;
}
