import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';

/** The service account whose token a secret should hold; undefined for a secret of another type. */
export function accountOf(
  { type, metadata }: Pick<Secret & ApiObject, 'type' | 'metadata'>,
  names: VendorNames,
): { readonly name: string; readonly uid: string } | undefined {
  const name = metadata.annotations?.[names.serviceAccountNameAnnotation] ?? '';
  if (type !== names.serviceAccountTokenSecretType || name === '') return undefined;
  return { name, uid: metadata.annotations?.[names.serviceAccountUidAnnotation] ?? '' };
}

/** A secret without its confidential data, as the cache keeps it. */
export function withoutData(secret: ApiObject, resourceVersion: bigint): ApiObject {
  const { metadata, type } = secret as ApiObject as Secret;
  const { namespace, name, uid, annotations } = metadata;
  return {
    metadata: { namespace, name, uid, annotations, resourceVersion: String(resourceVersion) },
    type,
  } as ApiObject;
}
