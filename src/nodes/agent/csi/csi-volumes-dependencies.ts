import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { EventSink } from '../agent-events.js';
import type { CsiDrivers } from './csi-drivers.js';
import type { CsiFolders } from './csi-folders.js';
import type { CsiObjects } from './csi-objects.js';
import type { VolumesInUse } from './volumes-in-use.js';

/** The dependencies of {@link CsiVolumes}. */
export interface CsiVolumesDependencies {
  readonly drivers: CsiDrivers;
  readonly folders: CsiFolders;
  readonly objects: CsiObjects;
  readonly inUse: VolumesInUse;
  readonly events: EventSink;
  readonly nodeName: string;
  readonly timers: Timers;
  readonly logger: Logger;
}
