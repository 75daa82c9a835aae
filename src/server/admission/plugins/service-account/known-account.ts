import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { ServiceAccount } from '../../../../objects/apis/core/v1/service-account.types.js';

/** The fields that pods copy from their service account. */
export interface KnownAccount {
  /** Whether its pods get a token; undefined when the service account leaves the choice to the pods. */
  readonly automount: boolean | undefined;
  readonly imagePullSecrets: readonly string[];
  /** The secrets its pods may name; undefined when they may name any. */
  readonly mountableSecrets: ReadonlySet<string> | undefined;
}

/**
 * Returns a function that reads service accounts. The annotation `enforce-mountable-secrets` limits which secrets pods
 * may name.
 */
export function accountReader({ labelPrefix }: VendorNames): (object: ApiObject) => KnownAccount {
  const annotation = `${labelPrefix}/enforce-mountable-secrets`;
  return (object) => {
    const { metadata, secrets, imagePullSecrets, automountServiceAccountToken } = object as unknown as ServiceAccount;
    const isLimited = isTrue(metadata.annotations?.[annotation]);
    return {
      automount: automountServiceAccountToken,
      imagePullSecrets: (imagePullSecrets ?? []).flatMap(({ name }) => name || []),
      mountableSecrets: isLimited ? new Set((secrets ?? []).flatMap(({ name }) => name || [])) : undefined,
    };
  };
}

/** The strings that Go's `strconv.ParseBool` accepts as true. */
function isTrue(text: string | undefined): boolean {
  return text !== undefined && /^(?:1|t|T|true|TRUE|True)$/.test(text);
}
