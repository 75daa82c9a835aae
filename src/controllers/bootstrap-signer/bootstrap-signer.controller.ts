import { isDeepStrictEqual } from 'node:util';
import type { ConfigMap } from '../../apis/core/v1/config-map.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { readBootstrapToken } from '../../machinery/bootstrap-token.js';
import {
  clusterInfoKubeconfigKey,
  clusterInfoName,
  clusterInfoSignaturePrefix,
} from '../../machinery/cluster-info-names.js';
import { StatusError } from '../../machinery/status-error.js';
import type { VendorNames } from '../../machinery/vendor.js';
import type { Logger } from '../../observability/logger.js';
import type { ResourceRegistry, StoredServedResource } from '../../registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../../registry/store/admitted-store.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import { reconcileOnChange } from '../reconcile-on-change.js';
import type { Timers } from '../timers.js';
import { concernsTokens, coreResource, listTokenSecrets } from '../token-secrets.js';
import { accountContext } from '../work-context.js';
import { workStore } from '../work-store.js';
import { signDetached } from './detached-jws.js';

export interface BootstrapLoopOptions {
  readonly storage: Storage;
  readonly admission?: WriteAdmission | undefined;
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
}

/** Thrown when the map needs no change. */
class Unchanged extends Error {}

/**
 * Keeps the signatures of the public `cluster-info` map: one for every valid token that may sign, and no others
 * (specification 5.8).
 */
export class BootstrapSignerController implements ControlLoop {
  readonly name = 'bootstrap-signer';
  private readonly secrets: StoredServedResource;
  private readonly maps: AdmittedStore;

  /** @throws Error when the registry has no secrets or config maps. */
  constructor(private readonly options: BootstrapLoopOptions) {
    this.secrets = coreResource(options.registry, 'secrets');
    this.maps = workStore(coreResource(options.registry, 'configmaps'), options);
  }

  run(signal: AbortSignal): Promise<void> {
    const { storage, timers, names } = this.options;
    const mapResource = this.maps.resource.storageResource;
    return reconcileOnChange(
      {
        storage,
        timers,
        scopes: [
          { resource: this.secrets.storageResource, namespace: names.systemNamespace },
          { resource: mapResource, namespace: names.publicNamespace, name: clusterInfoName },
        ],
        concerns: (change) => change.key.resource === mapResource || concernsTokens(change),
        reconcile: () => this.reconcile(signal),
      },
      signal,
    );
  }

  /** Writes the correct signatures. Returns the milliseconds until the next token expires. */
  private async reconcile(signal: AbortSignal): Promise<number> {
    const { storage, names, timers, logger } = this.options;
    const now = timers.now();
    const secrets = await listTokenSecrets(storage, this.secrets, names);
    const tokens = secrets
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((secret) => readBootstrapToken(secret, names))
      .filter((token) => token?.maySign === true && token.expiresAt > now)
      .map((token) => token as NonNullable<typeof token>);
    const endsIn = Math.min(...tokens.map(({ expiresAt }) => expiresAt - now));
    try {
      await this.maps.update(accountContext(this.name, names, now, signal), names.publicNamespace, clusterInfoName, {
        transform: (live) => {
          const map = live as (ConfigMap & ApiObject) | undefined;
          const content = map?.data?.[clusterInfoKubeconfigKey];
          if (map === undefined || content === undefined) throw new Unchanged();
          const others = Object.entries(map.data ?? {}).filter(([key]) => !key.startsWith(clusterInfoSignaturePrefix));
          const data = Object.fromEntries(others);
          for (const { id, secret } of tokens) {
            data[`${clusterInfoSignaturePrefix}${id}`] = signDetached(content, id, `${id}.${secret}`);
          }
          if (isDeepStrictEqual(data, { ...map.data })) throw new Unchanged();
          return { ...map, data } as ApiObject;
        },
      });
      logger.info('the public cluster information was signed', { signatures: tokens.length });
    } catch (error) {
      const isMissing = error instanceof StatusError && error.reason === 'NotFound';
      if (!(error instanceof Unchanged) && !isMissing) throw error;
    }
    return endsIn;
  }
}
