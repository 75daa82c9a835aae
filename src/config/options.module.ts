import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { CLOCK, systemClock } from '../machinery/clock.js';
import { VENDOR_NAMES, vendorNames } from '../machinery/vendor.js';
import { ClusterOptions } from './cluster.options.js';
import type { OptionGroups, ParsedOptions } from './parse-options.js';

/**
 * What the process was told. Every class of options is the token of its own object, so that a provider asks for the
 * concern it depends on and sees no other. The vendor's names follow from them; the clock is that of the system.
 */
@Module({})
export class OptionsModule {
  /** @param groups the classes of `options`; objects that came from another process are no instances of them */
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
      { provide: CLOCK, useValue: systemClock },
    );
    return {
      module: OptionsModule,
      global: true,
      providers,
      exports: [...Object.values(groups), VENDOR_NAMES, CLOCK],
    };
  }
}
