import { Module } from '@nestjs/common';
import { RegistryModule } from '../../registry/registry.module.js';
import { DefinitionInformer } from './definition-informer.js';
import { definitionInformerProviders } from './definition-informer-providers.js';

/** Custom resources: loads their definitions from the store into the registry of the process. */
@Module({ imports: [RegistryModule], providers: definitionInformerProviders, exports: [DefinitionInformer] })
export class CustomResourcesModule {}
