import { Check } from './check.js';
import { Flag } from './flag.js';

/** Options for showing and renewing certificates. */
export class CertsOptions {
  @Flag({
    name: 'cert-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder of the certificates. Default: the folder pki of plinth init.',
  })
  readonly certDir: string | undefined = undefined;

  @Flag({
    name: 'output',
    short: 'o',
    type: 'string',
    values: ['text', 'json'],
    unit: 'format',
    usage: 'text or json.',
  })
  @Check<string>('format', (text) => (text === 'text' || text === 'json' ? undefined : 'must be text or json'))
  readonly output: string = 'text';
}
