import { isIP } from 'node:net';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { namesProblem } from './pki.options.js';

const addressProblem = (text: string) => (isIP(text) === 0 ? 'must be an IP address' : undefined);

/** What is wrong with a key for the authorities of a cluster; the text itself is a secret and not in it. */
export function certificateKeyProblem(text: string): string | undefined {
  return /^[0-9a-f]{64}$/i.test(text) ? undefined : 'must be 64 hexadecimal digits';
}

/** Where the servers of a control plane listen, and how they are run. The flags are named as in kubeadm. */
export class ControlPlaneOptions {
  @Flag({ name: 'bind-address', type: 'string', unit: 'address', usage: 'Address that the API listens on.' })
  @Check('address', addressProblem)
  readonly bindAddress: string = '0.0.0.0';

  @Flag({ name: 'apiserver-bind-port', type: 'int', unit: 'port', usage: 'Port that the API listens on.' })
  @Check<number>('port', (value) => (value >= 1 && value <= 65535 ? undefined : 'must be between 1 and 65535'))
  readonly apiserverBindPort: number = 6443;

  @Flag({
    name: 'apiserver-advertise-address',
    type: 'string',
    unit: 'address',
    usage:
      "Address at which nodes reach this machine. Default: that of --bind-address, or of the machine's default route.",
  })
  @Check('address', addressProblem)
  readonly apiserverAdvertiseAddress: string | undefined = undefined;

  @Flag({
    name: 'apiserver-cert-extra-sans',
    type: 'list',
    unit: 'names',
    usage: 'Further DNS names and IP addresses of the serving certificate.',
  })
  @Check('names', namesProblem)
  readonly apiserverCertExtraSans: readonly string[] = [];

  @Flag({
    name: 'static-pods',
    type: 'string',
    unit: 'folder',
    usage: 'Write manifests of the servers into this folder, from which a node agent runs them as static pods.',
  })
  readonly staticPods: string | undefined = undefined;

  @Flag({ name: 'image', type: 'string', unit: 'image', usage: 'Image of the containers of --static-pods.' })
  readonly image: string = 'plinth:latest';
}
