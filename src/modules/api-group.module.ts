import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Injectable,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { groupName, type VendorNames } from '../base/machinery/vendor.js';
import type { ResourceDefinition } from '../objects/registry/resource-definition.js';
import { ResourceRegistry } from '../objects/registry/resource-registry.js';

/** The parts of the process that its API groups use. */
export interface GroupHost {
  readonly names: VendorNames;
  /** Modules whose providers the definitions and the controllers of the groups need. */
  readonly imports: NonNullable<DynamicModule['imports']>;
  /** Makes the controller of a group for its path; left out in processes that serve no requests. */
  readonly controllerAt?: (path: string) => Type<unknown>;
}

/** The function that makes the definitions of a group, and the injection tokens of its arguments. */
export type DefinitionsFactory = Pick<FactoryProvider<ResourceDefinition[]>, 'inject' | 'useFactory'>;

const RESOURCE_DEFINITIONS = Symbol('ResourceDefinitions');

/** Adds the definitions of one group to the registry, before anything reads it: readers start at bootstrap. */
@Injectable()
class DefinitionRegistrar implements OnModuleInit {
  constructor(
    @Inject(ResourceRegistry) private readonly registry: ResourceRegistry,
    @Inject(RESOURCE_DEFINITIONS) private readonly definitions: readonly ResourceDefinition[],
  ) {}

  onModuleInit(): void {
    for (const definition of this.definitions) this.registry.register(definition);
  }
}

/**
 * The Nest module of one API group: its controller, and its definitions, registered when the module starts. Made at run
 * time because the name of a group ends in the vendor's suffix.
 *
 * @param group short name, without the suffix; `core` is served below `/api`
 */
export function apiGroupModule(
  module: Type<unknown>,
  group: string,
  { names, imports, controllerAt }: GroupHost,
  definitions: DefinitionsFactory,
): DynamicModule {
  const path = group === 'core' ? 'api' : `apis/${groupName(group, names)}`;
  return {
    module,
    imports,
    controllers: controllerAt === undefined ? [] : [controllerAt(path)],
    providers: [{ provide: RESOURCE_DEFINITIONS, ...definitions }, DefinitionRegistrar],
  };
}
