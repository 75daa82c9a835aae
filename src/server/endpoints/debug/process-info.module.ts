import { type DynamicModule, Module } from '@nestjs/common';
import type { ProcessInfo } from '../../../base/observability/process-pages.js';
import { versionInfo } from '../discovery/version-info.js';

/** Injection token of the {@link ProcessInfo}. */
export const PROCESS_INFO = Symbol('ProcessInfo');

const paths = ['/debug', '/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version'];

/** @param flags from `shownFlags` */
export function processInfo(component: ProcessInfo['component'], flags: readonly string[]): ProcessInfo {
  const { gitVersion, goVersion, emulationMajor, emulationMinor } = versionInfo();
  const emulatedVersion = `${emulationMajor}.${emulationMinor}`;
  return { component, version: gitVersion, emulatedVersion, runtime: goVersion, paths, flags };
}

/** The information about the process that its pages show. */
@Module({})
export class ProcessInfoModule {
  static of(component: ProcessInfo['component'], flags: readonly string[]): DynamicModule {
    return {
      module: ProcessInfoModule,
      global: true,
      providers: [{ provide: PROCESS_INFO, useFactory: () => processInfo(component, flags) }],
      exports: [PROCESS_INFO],
    };
  }
}
