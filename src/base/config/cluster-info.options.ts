import { Check } from './check.js';
import { Flag } from './flag.js';
import { serverProblem } from './pki.options.js';

/** The information about the cluster for joining nodes. */
export class ClusterInfoOptions {
  @Flag({ name: 'server', type: 'string', unit: 'url', usage: 'URL at which nodes reach the API.' })
  @Check('server', serverProblem)
  readonly server: string = 'https://127.0.0.1:6443';

  @Flag({
    name: 'certificate-authority',
    type: 'string',
    unit: 'file',
    usage: 'Certificates in PEM that the serving certificate is checked against, such as the ca.crt of plinth pki.',
  })
  readonly certificateAuthority: string = '.plinth/pki/ca.crt';

  @Flag({
    name: 'joining-tools',
    type: 'bool',
    usage:
      'Also let nodes join by bootstrap tokens of the usual group: the rights for that, and the ConfigMaps kubeadm-config and ' +
      'kubelet-config, which kubeadm join and plinth join read. What is there already stays unchanged.',
  })
  readonly joiningTools: boolean = false;
}
