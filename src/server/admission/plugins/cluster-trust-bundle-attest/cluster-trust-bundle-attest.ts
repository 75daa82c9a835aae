import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../../base/machinery/authorizer.js';
import { maySignFor } from '../../../../base/machinery/may-sign-for.js';
import { deepEqual } from '../../../../base/machinery/patch/json-value.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor, refused } from '../../refused.js';

type Bundle = ApiObject & { readonly spec: { readonly signerName?: string } };

/** Requires the right `attest` on the signer from users who publish the trust bundle of a signer (specification 5.5). */
export class ClusterTrustBundleAttest implements AdmissionPlugin {
  readonly name = 'ClusterTrustBundleAttest';
  private readonly group: string;

  constructor(
    private readonly authorizer: Authorizer,
    private readonly names: VendorNames,
  ) {
    this.group = groupName('certificates', names);
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (!isFor(attributes, this.group, 'clustertrustbundles')) return;
    const bundle = attributes.storedObject as Bundle | undefined;
    const signer = bundle?.spec.signerName ?? '';
    if (bundle === undefined || signer === '' || isSame(bundle, attributes.storedOldObject)) return;
    if (await maySignFor(this.authorizer, this.names, attributes.userInfo, 'attest', signer)) return;
    throw refused(attributes, `user not permitted to attest for signerName ${JSON.stringify(signer)}`);
  }
}

/** Whether the update makes only changes that garbage collection and the rewriting of stored objects need. */
function isSame(bundle: ApiObject, old: ApiObject | undefined): boolean {
  if (old === undefined) return false;
  const essence = ({
    metadata: { ownerReferences, finalizers, managedFields, resourceVersion, ...rest },
    ...others
  }: ApiObject) => ({
    ...others,
    metadata: rest,
  });
  return deepEqual(essence(bundle), essence(old));
}
