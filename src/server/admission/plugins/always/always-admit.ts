import type { AdmissionPlugin } from '../../admission-plugin.js';

/** Accepts everything, as if there were no plugin (specification 5.5). */
export class AlwaysAdmit implements AdmissionPlugin {
  readonly name = 'AlwaysAdmit';

  handles(): boolean {
    return true;
  }
}
