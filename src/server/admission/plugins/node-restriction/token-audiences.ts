import type { AuthorizationDecision, Authorizer } from '../../../../base/machinery/authorizer.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionAttributes } from '../../attributes.js';
import type { ReadClaim, ReadCsiDriver, ReadPod, ReadTokenRequest, ReadVolume } from './read-objects.js';

const claims = { group: '', resource: 'persistentvolumeclaims' };
const volumes = { group: '', resource: 'persistentvolumes' };

type PodVolume = NonNullable<ReadPod['spec']['volumes']>[number];

/** Decides for which audiences a node may request tokens of a pod that it runs, as restricted in release 1.37. */
export class TokenAudiences {
  private readonly drivers: { readonly group: string; readonly resource: string };

  constructor(
    names: VendorNames,
    private readonly reader: ObjectReader,
    private readonly authorizer: Authorizer,
  ) {
    this.drivers = { group: groupName('storage', names), resource: 'csidrivers' };
  }

  /**
   * Why a node may not request a token of a pod's service account for the requested audience: no volume of the pod has
   * a token for it, no CSI driver of its volumes requires one, and no rule allows the node to request it.
   */
  async problem(attributes: AdmissionAttributes, pod: ReadPod): Promise<string | undefined> {
    const audiences = (attributes.object as ReadTokenRequest).spec.audiences ?? [];
    if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
    const [audience = ''] = audiences;
    if (isProjected(pod, audience) || (await this.isWantedByDriver(pod, audience))) return undefined;
    const { userInfo } = attributes;
    if ((await this.ask(attributes, audience)).decision === 'allow') return undefined;
    const name = JSON.stringify(audience);
    return `audience ${name} not found in pod spec volume, ${userInfo.name} is not authorized to request tokens for this audience`;
  }

  private ask(
    { userInfo: user, namespace, name }: AdmissionAttributes,
    audience: string,
  ): Promise<AuthorizationDecision> | AuthorizationDecision {
    return this.authorizer.authorize({
      user,
      verb: 'request-serviceaccounts-token-audience',
      isResourceRequest: true,
      namespace,
      apiGroup: '',
      apiVersion: 'v1',
      resource: audience,
      subresource: '',
      name,
      path: '',
    });
  }

  private async isWantedByDriver(pod: ReadPod, audience: string): Promise<boolean> {
    const seen = new Set<string>();
    for (const volume of pod.spec.volumes ?? []) {
      const driver = await this.driverOf(pod, volume);
      if (driver === undefined || seen.has(driver)) continue;
      seen.add(driver);
      const found = (await this.reader.read(this.drivers, '', driver)) as ReadCsiDriver | undefined;
      if ((found?.spec.tokenRequests ?? []).some((request) => (request.audience ?? '') === audience)) return true;
    }
    return false;
  }

  /** The CSI driver of a volume in the pod, or of the claim that the volume names. */
  private async driverOf(pod: ReadPod, volume: PodVolume): Promise<string | undefined> {
    const { name, csi, persistentVolumeClaim, ephemeral } = volume;
    if (csi) return csi.driver;
    const claimName = ephemeral ? `${pod.metadata.name}-${name}` : persistentVolumeClaim?.claimName;
    if (!claimName) return undefined;
    const claim = (await this.reader.read(claims, pod.metadata.namespace ?? '', claimName)) as ReadClaim | undefined;
    // The claim may belong to somebody else, although it has the name of an ephemeral one.
    const isOwn = claim?.metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid) === true;
    if (!claim?.spec.volumeName || (ephemeral && !isOwn)) return undefined;
    const found = (await this.reader.read(volumes, '', claim.spec.volumeName)) as ReadVolume | undefined;
    return found?.spec.csi?.driver;
  }
}

function isProjected({ spec }: ReadPod, audience: string): boolean {
  return (spec.volumes ?? []).some(({ projected }) =>
    (projected?.sources ?? []).some(({ serviceAccountToken: token }) => token && (token.audience ?? '') === audience),
  );
}
