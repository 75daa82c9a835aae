import { Max, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

const positive = () => Check<number>('duration', (value) => (value > 0 ? undefined : 'must be more than 0'));
const notNegative = { message: 'must not be negative' };

/** How the node controllers treat nodes. */
export class NodeLoopOptions {
  @Flag({
    name: 'node-monitor-grace-period',
    type: 'duration',
    usage:
      'How long a node may be silent before it counts as gone. Must be several times the interval in which its ' +
      'lease is renewed.',
  })
  @positive()
  readonly nodeMonitorGraceMs: number = 50_000;

  @Flag({
    name: 'node-startup-grace-period',
    type: 'duration',
    usage: 'How long a node that never reported its status may be silent before it counts as gone.',
  })
  @positive()
  readonly nodeStartupGraceMs: number = 60_000;

  @Flag({
    name: 'node-eviction-rate',
    type: 'number',
    unit: 'nodes/s',
    usage: 'How many nodes that are not ready lose their pods, per second and zone.',
  })
  @Min(0, notNegative)
  readonly nodeEvictionRate: number = 0.1;

  @Flag({
    name: 'secondary-node-eviction-rate',
    type: 'number',
    unit: 'nodes/s',
    usage: 'How many nodes of an unhealthy large zone lose their pods, per second; in an unhealthy small zone none do.',
  })
  @Min(0, notNegative)
  readonly secondaryNodeEvictionRate: number = 0.01;

  @Flag({
    name: 'unhealthy-zone-threshold',
    type: 'number',
    unit: 'share',
    usage: 'Share of nodes that are not ready from which on a zone counts as unhealthy.',
  })
  @Min(0, notNegative)
  @Max(1, { message: 'must not be above 1' })
  readonly unhealthyZoneThreshold: number = 0.55;

  @Flag({
    name: 'large-cluster-size-threshold',
    type: 'int',
    unit: 'nodes',
    usage: 'Zones with more nodes than this are large.',
  })
  @Min(0, notNegative)
  readonly largeClusterSizeThreshold: number = 50;
}
