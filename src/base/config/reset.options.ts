import { Flag } from './flag.js';

/** What `plinth reset` removes. */
export class ResetOptions {
  @Flag({
    name: 'config-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder that plinth init or plinth join was given. Default: /etc/plinth for root, ~/.plinth for others.',
  })
  readonly configDir: string | undefined = undefined;

  @Flag({ name: 'force', short: 'f', type: 'bool', usage: 'Do it without asking. Needed where there is no terminal.' })
  readonly force: boolean = false;

  @Flag({ name: 'dry-run', type: 'bool', usage: 'Show what would be removed, and change nothing.' })
  readonly dryRun: boolean = false;
}
