import { Module } from '@nestjs/common';
import { RegistryModule } from '../../registry/registry.module.js';
import { DefinitionFollower } from './definition-follower.js';
import { followerProviders } from './follower-providers.js';

/** Custom resources: loads their definitions from the store into the registry of the process. */
@Module({ imports: [RegistryModule], providers: followerProviders, exports: [DefinitionFollower] })
export class CustomResourcesModule {}
