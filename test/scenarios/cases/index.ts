import type { Scenario } from '../scene.js';
import { cleaning } from './cleaning.js';
import { deployments } from './deployments.js';
import { disruption } from './disruption.js';
import { jobs } from './jobs.js';
import { scheduling } from './scheduling.js';
import { services } from './services.js';
import { sets } from './sets.js';
import { volumes } from './volumes.js';

/** All scenarios by area, in the order in which they are told. */
export const areas: Readonly<Record<string, readonly Scenario[]>> = {
  deployments,
  sets,
  jobs,
  services,
  disruption,
  cleaning,
  scheduling,
  volumes,
};
