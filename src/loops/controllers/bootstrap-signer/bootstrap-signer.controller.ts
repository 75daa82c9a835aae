import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { readBootstrapToken } from '../../../base/machinery/bootstrap-token.js';
import {
  clusterInfoKubeconfigKey,
  clusterInfoName,
  clusterInfoSignaturePrefix,
} from '../../../base/machinery/cluster-info-names.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { ConfigMap } from '../../../objects/apis/core/v1/config-map.types.js';
import { changeSource } from '../frame/change-source.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { type ReconcileDependencies, ReconcileLoop, type Source } from '../frame/reconcile-loop.js';
import { listTokenSecrets, longestTokenWaitMs, tokenChanges } from '../token-secrets.js';
import type { WorkOutcome } from '../work-queue.js';
import { signDetached } from './detached-jws.js';

type StoredMap = ConfigMap & ApiObject;

export interface BootstrapSignerDependencies extends ReconcileDependencies {
  readonly signedWith: VendorNames['clusterInfoKey'];
}

/**
 * Keeps the signatures of the public `cluster-info` map: one for every valid token that may sign, and no others
 * (specification 5.8). Its one key is the name of the map.
 */
export class BootstrapSignerController extends ReconcileLoop {
  readonly name = 'bootstrap-signer';

  constructor(private readonly own: BootstrapSignerDependencies) {
    super(own);
  }

  protected override get queueName(): string {
    return 'bootstrap_signer_queue';
  }

  protected sources(): readonly Source[] {
    const { names } = this.dependencies;
    return [
      tokenChanges(this.dependencies, clusterInfoName),
      changeSource(this.dependencies, 'configmaps', {
        keysOf: ({ key }) =>
          key.namespace === names.publicNamespace && key.name === clusterInfoName ? [clusterInfoName] : [],
        all: () => [clusterInfoName],
      }),
    ];
  }

  /** Writes the correct signatures, and writes them again when the next token expires. */
  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { names, logger } = this.dependencies;
    const maps = this.client<StoredMap>('', 'configmaps');
    const secrets = await listTokenSecrets(this.dependencies);
    const tokens = secrets
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((secret) => readBootstrapToken(secret, names))
      .filter((token) => token?.maySign === true && token.expiresAt > work.now)
      .map((token) => token as NonNullable<typeof token>);
    const signed = (map: StoredMap): StoredMap | undefined => {
      const content = map.data?.[clusterInfoKubeconfigKey];
      if (content === undefined) return undefined;
      const others = Object.entries(map.data ?? {}).filter(([key]) => !key.startsWith(clusterInfoSignaturePrefix));
      const data = Object.fromEntries(others);
      for (const { id, secret } of tokens) {
        const key = this.own.signedWith === 'secret' ? secret : `${id}.${secret}`;
        data[`${clusterInfoSignaturePrefix}${id}`] = signDetached(content, id, key);
      }
      return isDeepStrictEqual(data, { ...map.data }) ? undefined : { ...map, data };
    };
    const live = await maps.get(names.publicNamespace, name);
    if (live !== undefined && signed(live) !== undefined && (await maps.update(work, live, signed)) !== undefined) {
      logger.info('the public cluster information was signed', { signatures: tokens.length });
    }
    return Math.min(longestTokenWaitMs, ...tokens.map(({ expiresAt }) => expiresAt - work.now));
  }
}
