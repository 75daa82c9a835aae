import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { CLOCK, systemClock } from '../machinery/clock.js';
import { VENDOR_NAMES, vendorNames } from '../machinery/vendor.js';
import { ClusterOptions } from './cluster.options.js';
import { FEATURE_GATES, FeatureGates } from './feature-gates.js';
import type { OptionGroups, ParsedOptions } from './parse-options.js';

/**
 * The options of the process. Every options class is the token of its own object, so a provider injects only the
 * options it depends on. The module also provides values derived from the options (the vendor's names and the feature
 * gates) and the system's clock, and opens the fields of the gates that are on.
 */
@Module({})
export class OptionsModule {
  /** @param groups the classes of `options`; objects from another process are not instances of them */
  static of<Groups extends OptionGroups>(groups: Groups, options: ParsedOptions<Groups>): DynamicModule {
    const providers: Provider[] = Object.entries(groups).map(([name, optionsClass]) => ({
      provide: optionsClass,
      useValue: options[name],
    }));
    providers.push(
      {
        provide: VENDOR_NAMES,
        inject: [ClusterOptions],
        useFactory: ({ vendor, compat }: ClusterOptions) => vendorNames(vendor, compat),
      },
      {
        provide: FEATURE_GATES,
        inject: [ClusterOptions],
        useFactory: ({ featureGates }: ClusterOptions) => {
          const gates = FeatureGates.of(featureGates);
          gates.openFields();
          return gates;
        },
      },
      { provide: CLOCK, useValue: systemClock },
    );
    return {
      module: OptionsModule,
      global: true,
      providers,
      exports: [...Object.values(groups), VENDOR_NAMES, FEATURE_GATES, CLOCK],
    };
  }
}
