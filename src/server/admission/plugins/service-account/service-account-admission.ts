import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import { mirrorAnnotation, referencedKeys } from '../../../authorization/node/pod-references.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { createdPod, isForPods } from '../../pods/pod-request.js';
import { refused } from '../../refused.js';
import { AccountLookup, defaultAccount } from './account-lookup.js';
import type { KnownAccount } from './known-account.js';
import { forbiddenEphemeralSecret, forbiddenSecret } from './secret-references.js';
import { mountToken } from './token-volume.js';

/**
 * Gives every new pod a service account (`default` unless the pod names one), the account's pull secrets, and a token
 * in each container (specification 5.3). Refuses pods whose service account does not exist and, if the account limits
 * the secrets of its pods, pods that name other secrets. Mirror pods get nothing and may name neither a service account
 * nor a secret.
 */
export class ServiceAccountAdmission implements AdmissionPlugin {
  readonly name = 'ServiceAccount';
  private readonly accounts: AccountLookup;
  private readonly names: VendorNames;
  private readonly mirror: string;

  constructor(dependencies: Pick<AdmissionDependencies, 'listers' | 'objects' | 'names'>) {
    this.accounts = new AccountLookup(dependencies);
    this.names = dependencies.names;
    this.mirror = mirrorAnnotation(dependencies.names);
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    const pod = createdPod(attributes);
    if (pod === undefined) return undefined;
    if (this.isMirror(pod)) return this.judgeMirror(attributes, pod);
    const { spec } = pod;
    spec.serviceAccountName = accountOf(pod) || defaultAccount;
    return this.withAccount(attributes, pod, (account) => {
      if (spec.automountServiceAccountToken ?? account.automount ?? true) mountToken(spec, this.names);
      if ((spec.imagePullSecrets ?? []).length === 0 && account.imagePullSecrets.length > 0) {
        spec.imagePullSecrets = account.imagePullSecrets.map((name) => ({ name }));
      }
      judgeSecrets(attributes, pod, account);
    });
  }

  // Checks again, since later plugins may have changed the pod.
  validate(attributes: AdmissionAttributes): Promise<void> | void {
    if (attributes.operation === 'UPDATE') return this.judgeUpdate(attributes);
    const pod = createdPod(attributes);
    if (pod === undefined) return undefined;
    if (this.isMirror(pod)) return this.judgeMirror(attributes, pod);
    if (accountOf(pod) === '') {
      throw refused(attributes, `no service account specified for pod ${attributes.namespace}/${attributes.name}`);
    }
    return this.withAccount(attributes, pod, (account) => judgeSecrets(attributes, pod, account));
  }

  private judgeUpdate(attributes: AdmissionAttributes): Promise<void> | void {
    if (!isForPods(attributes, 'ephemeralcontainers')) return undefined;
    const pod = attributes.object as Pod | undefined;
    // Mirror pods have no service account. The annotation alone does not prove that a pod is one: clients may send it
    // with any update.
    if (pod === undefined || accountOf(pod) === '') return undefined;
    return this.withAccount(attributes, pod, ({ mountableSecrets }) => {
      if (mountableSecrets === undefined) return;
      const problem = forbiddenEphemeralSecret(pod.spec, accountOf(pod), mountableSecrets);
      if (problem !== undefined) throw refused(attributes, problem);
    });
  }

  private withAccount(
    attributes: AdmissionAttributes,
    pod: Pod,
    use: (account: KnownAccount) => void,
  ): Promise<void> | void {
    const { namespace, context } = attributes;
    const name = accountOf(pod);
    const found = this.accounts.find(namespace, name, context.signal);
    const judge = (account: KnownAccount | undefined): void => {
      if (account === undefined) {
        const detail = `serviceaccount ${JSON.stringify(name)} not found`;
        throw refused(attributes, `error looking up service account ${namespace}/${name}: ${detail}`);
      }
      use(account);
    };
    return found instanceof Promise ? found.then(judge) : judge(found);
  }

  private isMirror({ metadata }: Pod): boolean {
    return metadata.annotations?.[this.mirror] !== undefined;
  }

  /** Node agents create mirror pods, which must not give anybody access to a service account or a secret. */
  private judgeMirror(attributes: AdmissionAttributes, pod: Pod): void {
    if (accountOf(pod) !== '') throw refused(attributes, 'a mirror pod may not reference service accounts');
    if (referencedKeys(pod as Pod & ApiObject).some((key) => key.startsWith('secret/'))) {
      throw refused(attributes, 'a mirror pod may not reference secrets');
    }
    const sources = (pod.spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
    if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)) {
      throw refused(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
    }
  }
}

/** The service account that a pod names, in the current field or in the old one. */
function accountOf({ spec }: Pod): string {
  return spec.serviceAccountName || spec.serviceAccount || '';
}

function judgeSecrets(attributes: AdmissionAttributes, pod: Pod, account: KnownAccount): void {
  const { mountableSecrets, imagePullSecrets } = account;
  if (mountableSecrets === undefined) return;
  const problem = forbiddenSecret(pod.spec, accountOf(pod), mountableSecrets, imagePullSecrets);
  if (problem !== undefined) throw refused(attributes, problem);
}
