import type { AdmissionPlugin } from '../../admission-plugin.js';

/** Accepts everything, as no plugin at all does (specification 5.5). */
export class AlwaysAdmit implements AdmissionPlugin {
  readonly name = 'AlwaysAdmit';

  handles(): boolean {
    return true;
  }
}
