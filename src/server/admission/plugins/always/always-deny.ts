import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes } from '../../attributes.js';
import { refused } from '../../refused.js';

/** Refuses every write; for tests (specification 5.5). */
export class AlwaysDeny implements AdmissionPlugin {
  readonly name = 'AlwaysDeny';

  handles(): boolean {
    return true;
  }

  // Refuses in the mutating phase too, so that no later step or webhook sees the request.
  admit(attributes: AdmissionAttributes): void {
    this.validate(attributes);
  }

  validate(attributes: AdmissionAttributes): void {
    throw refused(attributes, 'admission control is denying all modifications');
  }
}
