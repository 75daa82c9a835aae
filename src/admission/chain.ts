import type { AdmissionPlugin } from './admission-plugin.js';
import type { AdmissionAttributes } from './attributes.js';

/**
 * The plugins in their fixed order: all mutating ones first, then all validating ones. The first refusal ends the
 * chain.
 */
export class AdmissionChain {
  constructor(private readonly plugins: readonly AdmissionPlugin[]) {}

  async admit(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.plugins) {
      if (plugin.admit !== undefined && plugin.handles(attributes.operation)) await plugin.admit(attributes);
    }
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.plugins) {
      if (plugin.validate !== undefined && plugin.handles(attributes.operation)) await plugin.validate(attributes);
    }
  }
}
