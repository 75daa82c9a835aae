import { Check } from './check.js';
import { certificateKeyProblem } from './control-plane.options.js';
import { Flag } from './flag.js';
import { outputFlag } from './shared-flags.js';

/** Options for showing, renewing and handing over certificates. */
export class CertsOptions {
  @Flag({
    name: 'cert-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder of the certificates. Default: the folder pki of plinth init.',
  })
  readonly certDir: string | undefined = undefined;

  @Flag({
    name: 'certificate-key',
    type: 'string',
    unit: 'hex',
    secret: true,
    usage: 'For upload: key with which the authorities are encrypted, 64 hexadecimal digits. Default: a new one.',
  })
  @Check<string>('key', certificateKeyProblem)
  readonly certificateKey: string | undefined = undefined;

  @Flag(outputFlag(['text', 'json']))
  @Check<string>('format', (text) => (text === 'text' || text === 'json' ? undefined : 'must be text or json'))
  readonly output: string = 'text';
}
