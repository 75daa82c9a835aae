import type { FactoryProvider } from '@nestjs/common';
import { AdmissionOptions } from '../config/admission.options.js';
import { ApiOptions } from '../config/api.options.js';
import { ClusterOptions } from '../config/cluster.options.js';
import { LoggingOptions } from '../config/logging.options.js';
import { LargeLane } from '../large/large-lane.js';
import { AUTHORIZER, type Authorizer, RULE_RESOLVER, type RuleResolver } from '../machinery/authorizer.js';
import {
  type ServiceAccountTokenIssuer,
  TOKEN_ISSUER,
  TOKEN_REVIEWER,
  type TokenReviewer,
} from '../machinery/tokens.js';
import { Logger } from '../observability/logger.js';
import { NamespaceLister } from '../registry/informers/namespace-lister.js';
import { STORAGE, type Storage } from '../storage/storage.interface.js';
import { listPageSize, maxBodyBytes } from './limits.js';

/** Creates the lane for large requests, once the key of continue tokens is known. */
export type OpenLane = (continueKey: Uint8Array) => LargeLane;

/** Injection token of {@link OpenLane}. */
export const LARGE_LANE = Symbol('LargeLane');

/** The lane answers in another thread and uses the parts of this process. */
export const largeLane: FactoryProvider<OpenLane> = {
  provide: LARGE_LANE,
  inject: [
    ApiOptions,
    ClusterOptions,
    AdmissionOptions,
    LoggingOptions,
    STORAGE,
    AUTHORIZER,
    RULE_RESOLVER,
    TOKEN_REVIEWER,
    TOKEN_ISSUER,
    NamespaceLister,
    Logger,
  ],
  useFactory:
    (
      { deleteCollectionWorkers, garbageCollector }: ApiOptions,
      cluster: ClusterOptions,
      admission: AdmissionOptions,
      logging: LoggingOptions,
      storage: Storage,
      authorizer: Authorizer,
      rules: RuleResolver,
      tokens: TokenReviewer,
      issuer: ServiceAccountTokenIssuer | undefined,
      namespaces: NamespaceLister,
      logger: Logger,
    ): OpenLane =>
    (continueKey) =>
      new LargeLane(
        {
          cluster,
          admission,
          logging,
          continueKey,
          maxBodyBytes,
          listPageSize,
          deleteCollectionWorkers,
          garbageCollector,
          issuer: issuer && factsOf(issuer),
        },
        { storage, authorizer, rules, tokens, issuer, namespaces },
        logger,
      ),
};

/** The static settings of an issuer. */
function factsOf({ audiences, maxExpirationSeconds }: ServiceAccountTokenIssuer) {
  return { audiences, ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }) };
}
