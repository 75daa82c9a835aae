import type { Scenario } from '../scene.js';
import { accounts } from './accounts.js';
import { budgets } from './budgets.js';
import { cleaning } from './cleaning.js';
import { deployments } from './deployments.js';
import { disruption } from './disruption.js';
import { hostile } from './hostile.js';
import { jobs } from './jobs.js';
import { networks } from './networks.js';
import { owners } from './owners.js';
import { placement } from './placement.js';
import { rollouts } from './rollouts.js';
import { scheduling } from './scheduling.js';
import { services } from './services.js';
import { sets } from './sets.js';
import { tasks } from './tasks.js';
import { volumes } from './volumes.js';

/** All scenarios by area, in the order in which they run. */
export const areas: Readonly<Record<string, readonly Scenario[]>> = {
  deployments,
  rollouts,
  sets,
  jobs,
  tasks,
  services,
  networks,
  disruption,
  budgets,
  cleaning,
  owners,
  accounts,
  scheduling,
  placement,
  volumes,
  hostile,
};
