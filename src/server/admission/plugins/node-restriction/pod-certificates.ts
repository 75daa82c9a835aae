import type { Authorizer } from '../../../../base/machinery/authorizer.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import { mirrorAnnotation } from '../../../authorization/node/pod-references.js';
import type { AdmissionAttributes } from '../../attributes.js';
import type { ReadPod, ReadPodCertificateRequest } from './read-objects.js';

const nodes = { group: '', resource: 'nodes' };
const pods = { group: '', resource: 'pods' };
const accounts = { group: '', resource: 'serviceaccounts' };

type Problem = string | undefined;

/**
 * Decides for which pods a node may request certificates, as restricted in release 1.37: only for pods that it runs, as
 * their service account, and from signers that their volumes name.
 */
export class PodCertificates {
  private readonly mirror: string;

  constructor(
    names: VendorNames,
    private readonly reader: ObjectReader,
    private readonly authorizer: Authorizer,
  ) {
    this.mirror = mirrorAnnotation(names);
  }

  async problem(node: string, attributes: AdmissionAttributes): Promise<Problem> {
    const { operation, subresource, namespace } = attributes;
    if (operation !== 'CREATE') return `unexpected operation ${operation}`;
    if (subresource !== '') return `unexpected subresource ${subresource}`;
    const { spec } = attributes.object as ReadPodCertificateRequest;
    const requester = await this.nodeProblem(node, namespace, spec);
    if (requester !== undefined) return requester;
    const pod = (await this.reader.read(pods, namespace, spec.podName)) as ReadPod | undefined;
    const name = JSON.stringify(`${namespace}/${spec.podName}`);
    if (pod === undefined) return `while retrieving pod ${name} named in the PodCertificateRequest: it does not exist`;
    if (pod.metadata.annotations?.[this.mirror] !== undefined) return `pod ${name} is a mirror pod`;
    return (
      podProblem(pod, name, spec) ??
      (await this.accountProblem(namespace, name, spec)) ??
      this.signerProblem(attributes, pod)
    );
  }

  private async nodeProblem(
    node: string,
    namespace: string,
    spec: ReadPodCertificateRequest['spec'],
  ): Promise<Problem> {
    if (spec.nodeName !== node) {
      return `PodCertificateRequest.Spec.NodeName=${JSON.stringify(spec.nodeName)}, which is not the requesting node ${JSON.stringify(node)}`;
    }
    const found = await this.reader.read(nodes, '', node);
    if (found === undefined)
      return `while retrieving node ${JSON.stringify(node)} named in the PodCertificateRequest: it does not exist`;
    if (found.metadata.uid === spec.nodeUID) return undefined;
    const pod = JSON.stringify(`${namespace}/${spec.podName}`);
    const [given, present] = [spec.nodeUID, found.metadata.uid].map((uid) => JSON.stringify(uid));
    return `PodCertificateRequest for pod ${pod} names node UID ${given}, inconsistent with the running node (${present})`;
  }

  private async accountProblem(
    namespace: string,
    pod: string,
    spec: ReadPodCertificateRequest['spec'],
  ): Promise<Problem> {
    const account = await this.reader.read(accounts, namespace, spec.serviceAccountName);
    if (account === undefined) {
      const name = JSON.stringify(`${namespace}/${spec.serviceAccountName}`);
      return `while retrieving service account ${name} named in the PodCertificateRequest: it does not exist`;
    }
    if (account.metadata.uid === spec.serviceAccountUID) return undefined;
    const [given, present] = [spec.serviceAccountUID, account.metadata.uid].map((uid) => JSON.stringify(uid));
    return `PodCertificateRequest for pod ${pod} names service account UID ${given}, which differs from the running service account (${present})`;
  }

  /** A rule may let a node request certificates of a signer that no volume names. RBAC knows no names with a slash. */
  private async signerProblem(
    { userInfo, namespace, resource, object }: AdmissionAttributes,
    pod: ReadPod,
  ): Promise<Problem> {
    const { signerName, serviceAccountName } = (object as ReadPodCertificateRequest).spec;
    if (isProjected(pod, signerName)) return undefined;
    const { decision } = await this.authorizer.authorize({
      user: userInfo,
      verb: 'request-serviceaccounts-podcertificate-signer',
      isResourceRequest: true,
      namespace,
      apiGroup: resource.group,
      apiVersion: 'v1',
      resource: signerName.replaceAll('/', ':'),
      subresource: '',
      name: serviceAccountName,
      path: '',
    });
    if (decision === 'allow') return undefined;
    const name = JSON.stringify(`${namespace}/${pod.metadata.name}`);
    return `pod ${name} does not mount a podCertificate projected volume for signer ${JSON.stringify(signerName)}`;
  }
}

function podProblem(pod: ReadPod, name: string, spec: ReadPodCertificateRequest['spec']): Problem {
  const prefix = `PodCertificateRequest for pod ${name}`;
  if (pod.metadata.uid !== spec.podUID) {
    const [given, present] = [spec.podUID, pod.metadata.uid].map((uid) => JSON.stringify(uid));
    return `${prefix} contains pod UID (${given}) which differs from running pod ${present}`;
  }
  if (pod.spec.nodeName !== spec.nodeName) {
    return `pod ${name} is not running on node ${JSON.stringify(spec.nodeName)} named in the PodCertificateRequest`;
  }
  const account = pod.spec.serviceAccountName ?? '';
  if (account === spec.serviceAccountName) return undefined;
  const [given, present] = [spec.serviceAccountName, account].map((each) => JSON.stringify(each));
  return `${prefix} contains serviceAccountName (${given}) that differs from running pod (${present})`;
}

function isProjected({ spec }: ReadPod, signerName: string): boolean {
  return (spec.volumes ?? []).some(({ projected }) =>
    (projected?.sources ?? []).some(({ podCertificate }) => podCertificate?.signerName === signerName),
  );
}
