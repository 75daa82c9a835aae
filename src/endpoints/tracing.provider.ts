import type { FactoryProvider } from '@nestjs/common';
import { DebuggingOptions } from '../config/debugging.options.js';
import { readTracingConfiguration } from '../config/tracing-configuration.js';
import { VENDOR_NAMES, type VendorNames } from '../machinery/vendor.js';
import type { RequestTracer } from '../observability/trace-scope.js';
import { versionInfo } from './discovery/version-info.js';

/** What begins the traces of requests, and sends what is left at its stop. */
export interface RunningTracer extends RequestTracer {
  stop(): Promise<void>;
}

/** Injection token of the {@link RunningTracer}; undefined without `--tracing-config-file`. */
export const TRACER = Symbol('Tracer');

/** The libraries for traces are loaded only if they are needed. */
export const tracerProvider: FactoryProvider<RunningTracer | undefined> = {
  provide: TRACER,
  inject: [DebuggingOptions, VENDOR_NAMES],
  useFactory: async ({ tracingConfigFile }: DebuggingOptions, names: VendorNames) => {
    if (tracingConfigFile === undefined) return undefined;
    const configuration = readTracingConfiguration(tracingConfigFile, names);
    const { OtlpTracer } = await import('../observability/otlp-tracer.js');
    return new OtlpTracer({ ...configuration, service: 'apiserver', version: versionInfo().gitVersion });
  },
};
