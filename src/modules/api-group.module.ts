import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Injectable,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import type { ResourceDefinition } from '../objects/registry/resource-definition.js';
import { ResourceRegistry } from '../objects/registry/resource-registry.js';

/** The parts of the process that its API groups use. */
export interface GroupHost {
  /** Modules whose providers the definitions of the groups need. */
  readonly imports: NonNullable<DynamicModule['imports']>;
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
 * The Nest module of one API group: its definitions, registered when the module starts.
 */
export function apiGroupModule(
  module: Type<unknown>,
  { imports }: GroupHost,
  definitions: DefinitionsFactory,
): DynamicModule {
  return {
    module,
    imports,
    providers: [{ provide: RESOURCE_DEFINITIONS, ...definitions }, DefinitionRegistrar],
  };
}
