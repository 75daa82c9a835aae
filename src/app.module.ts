import { type CanActivate, type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AdmissionChain } from './admission/chain.js';
import type { Authentication } from './authentication/build-authentication.js';
import { DiscoveryController, VERSION_INFO, type VersionInfo } from './endpoints/discovery/discovery.controller.js';
import { HEALTH_CHECKS, HealthController } from './endpoints/health/health.controller.js';
import type { HealthCheck } from './endpoints/health/health-checks.js';
import { OpenApiController } from './endpoints/openapi/openapi.controller.js';
import { CatchAllController, groupController } from './endpoints/resource.controller.js';
import {
  ISSUER_DOCUMENTS,
  ServiceAccountIssuerController,
} from './endpoints/service-account-issuer/service-account-issuer.controller.js';
import { EndpointServices } from './endpoints/services.js';
import { StatusFilter } from './endpoints/status.filter.js';
import { groupName } from './machinery/vendor.js';
import { groupModules } from './modules/index.js';
import { Logger } from './observability/logger.js';
import { GROUP_CONTEXT, type GroupContext } from './registry/group-context.js';
import { ResourceRegistry } from './registry/resource-registry.js';

/** What the application is made of; built by the server before Nest starts. */
export interface AppParts {
  readonly services: EndpointServices;
  readonly groupContext: GroupContext;
  readonly issuerDocuments: () => Authentication['issuerDocuments'];
  /** Asked in this order before a handler. */
  readonly guards: readonly CanActivate[];
  readonly admission: AdmissionChain;
  readonly healthChecks: readonly HealthCheck[];
  readonly version: VersionInfo;
  readonly filter: StatusFilter;
  readonly logger: Logger;
}

/** Hands shared values to every module. */
@Module({})
class SharedModule {
  static of(parts: AppParts): DynamicModule {
    const { services, groupContext, logger } = parts;
    const providers = [
      { provide: EndpointServices, useValue: services },
      { provide: GROUP_CONTEXT, useValue: groupContext },
      { provide: Logger, useValue: logger },
      { provide: HEALTH_CHECKS, useValue: parts.healthChecks },
      { provide: ISSUER_DOCUMENTS, useValue: { documents: parts.issuerDocuments } },
      { provide: VERSION_INFO, useValue: parts.version },
      { provide: AdmissionChain, useValue: parts.admission },
      { provide: ResourceRegistry, useValue: services.registry },
    ];
    return { module: SharedModule, global: true, providers, exports: providers.map((p) => p.provide) };
  }
}

/**
 * The way of a request: the hooks of `endpoints/request-info` (registered on Fastify before routing), then the
 * guards in their order, then for writes the admission interceptor of the controllers, then the handler of the verb; any
 * error ends in the filter.
 */
@Module({})
export class AppModule {
  static of(parts: AppParts): DynamicModule {
    const names = parts.services.names;
    const groupControllers = groupModules.map(({ group }) =>
      groupController(group === 'core' ? 'api' : `apis/${groupName(group, names)}`),
    );
    return {
      module: AppModule,
      imports: [SharedModule.of(parts), ...groupModules.map((m) => m.module)],
      controllers: [
        HealthController,
        DiscoveryController,
        OpenApiController,
        ServiceAccountIssuerController,
        ...groupControllers,
        CatchAllController,
      ],
      providers: [
        ...parts.guards.map((guard) => ({ provide: APP_GUARD, useValue: guard })),
        { provide: APP_FILTER, useValue: parts.filter },
      ],
    };
  }
}
