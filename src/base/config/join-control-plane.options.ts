import { Check } from './check.js';
import { ControlPlaneOptions, certificateKeyProblem } from './control-plane.options.js';
import { Flag } from './flag.js';

/** Options of `plinth join` for a further control plane. */
export class JoinControlPlaneOptions extends ControlPlaneOptions {
  @Flag({
    name: 'control-plane',
    type: 'bool',
    usage: 'Add servers of the control plane on this machine, in place of a node agent. Needs --database-url.',
  })
  readonly controlPlane: boolean = false;

  @Flag({
    name: 'certificate-key',
    type: 'string',
    unit: 'hex',
    secret: true,
    usage: 'Key of the authorities that plinth init --upload-certs or plinth certs upload has handed over.',
  })
  @Check<string>('key', certificateKeyProblem)
  readonly certificateKey: string | undefined = undefined;
}
