import { IsIn, Min } from 'class-validator';
import { Flag } from './flag.js';

const protobufType = 'application/vnd.kubernetes.protobuf';
const contentTypes = [protobufType, 'application/json'];

/** How a node agent reaches the API, and how often (specification 8). */
export class AgentApiOptions {
  @Flag({
    name: 'kubeconfig',
    type: 'string',
    unit: 'file',
    usage:
      'API server and credentials of the node. With --bootstrap-kubeconfig the agent writes it, with the certificate that ' +
      'it has asked for.',
  })
  readonly kubeconfig: string | undefined = undefined;

  @Flag({
    name: 'bootstrap-kubeconfig',
    type: 'string',
    unit: 'file',
    usage:
      'API server and credentials, such as a bootstrap token, with which the agent asks for the certificate of its node when ' +
      'there is no --kubeconfig yet.',
  })
  readonly bootstrapKubeconfig: string | undefined = undefined;

  @Flag({
    name: 'cert-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder of the client certificate of the node and its key, which --bootstrap-kubeconfig asks for.',
  })
  readonly certDir: string = '/var/lib/kubelet/pki';

  @Flag({
    name: 'rotate-certificates',
    type: 'bool',
    usage: 'Whether a certificate that was asked for with --bootstrap-kubeconfig is renewed before it ends.',
  })
  readonly rotateCertificates: boolean = true;

  @Flag({
    name: 'rotate-server-certificates',
    type: 'bool',
    usage:
      'Whether the agent asks the API for the certificate of its server, and renews it before it ends. Somebody has to approve ' +
      'the request. Not together with --tls-cert-file.',
  })
  readonly rotateServerCertificates: boolean = false;

  @Flag({
    name: 'config',
    type: 'string',
    unit: 'file',
    usage:
      'File with a KubeletConfiguration (v1beta1). Flags override it. Without this file, the defaults are less ' +
      'strict, for example for --authorization-mode.',
  })
  readonly config: string | undefined = undefined;

  @Flag({
    name: 'kube-api-qps',
    type: 'int',
    unit: 'requests/s',
    usage: 'Maximum number of requests to the API per second. 0: no limit.',
  })
  @Min(0, { message: 'must be 0 or more' })
  readonly kubeApiQps: number = 5;

  @Flag({
    name: 'kube-api-burst',
    type: 'int',
    unit: 'requests',
    usage: 'Requests to the API that may be made at once.',
  })
  @Min(1, { message: 'must be 1 or more' })
  readonly kubeApiBurst: number = 10;

  @Flag({
    name: 'kube-api-content-type',
    type: 'string',
    values: contentTypes,
    usage: 'Form of the objects that the agent and the API exchange. Patches are always JSON.',
  })
  @IsIn(contentTypes, { message: `must be one of ${contentTypes.join(', ')}` })
  readonly kubeApiContentType: string = protobufType;
}
