import { type DynamicModule, Module } from '@nestjs/common';
import type { ProcessFacts } from '../../../base/observability/process-pages.js';
import { versionInfo } from '../discovery/version-info.js';

/** Injection token of the {@link ProcessFacts}. */
export const PROCESS_FACTS = Symbol('ProcessFacts');

const paths = ['/debug', '/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version'];

/** @param flags from `shownFlags` */
export function processFacts(component: ProcessFacts['component'], flags: readonly string[]): ProcessFacts {
  const { gitVersion, goVersion, emulationMajor, emulationMinor } = versionInfo();
  const emulatedVersion = `${emulationMajor}.${emulationMinor}`;
  return { component, version: gitVersion, emulatedVersion, runtime: goVersion, paths, flags };
}

/** What the pages about the process tell of it. */
@Module({})
export class ProcessFactsModule {
  static of(component: ProcessFacts['component'], flags: readonly string[]): DynamicModule {
    return {
      module: ProcessFactsModule,
      global: true,
      providers: [{ provide: PROCESS_FACTS, useFactory: () => processFacts(component, flags) }],
      exports: [PROCESS_FACTS],
    };
  }
}
