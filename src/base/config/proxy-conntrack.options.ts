import { Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

function notNegative(value: number): string | undefined {
  return value >= 0 ? undefined : 'must be 0 or more';
}

/** Kernel limits for tracked connections, which a proxy that uses kernel rules sets when it starts. */
export class ProxyConntrackOptions {
  @Flag({
    name: 'conntrack-max-per-core',
    type: 'int',
    unit: 'connections',
    usage: 'Connections that the kernel can track, for each processor; a higher limit stays. 0: leave it as it is.',
  })
  @Min(0, { message: 'must be 0 or more' })
  readonly conntrackMaxPerCore: number = 32_768;

  @Flag({
    name: 'conntrack-min',
    type: 'int',
    unit: 'connections',
    usage: 'Lowest limit of tracked connections, however few processors there are.',
  })
  @Min(0, { message: 'must be 0 or more' })
  readonly conntrackMin: number = 131_072;

  @Flag({
    name: 'conntrack-tcp-timeout-established',
    type: 'duration',
    usage: 'How long a connection of TCP is tracked in which nothing happens. 0: leave it as it is.',
  })
  @Check('duration', notNegative)
  readonly tcpEstablishedMs: number = 86_400_000;

  @Flag({
    name: 'conntrack-tcp-timeout-close-wait',
    type: 'duration',
    usage: 'How long a connection of TCP is tracked that one side has ended. 0: leave it as it is.',
  })
  @Check('duration', notNegative)
  readonly tcpCloseWaitMs: number = 3_600_000;

  @Flag({
    name: 'conntrack-tcp-be-liberal',
    type: 'bool',
    usage: 'Whether packets of TCP outside of the window are let through.',
  })
  readonly tcpBeLiberal: boolean = false;

  @Flag({
    name: 'conntrack-udp-timeout',
    type: 'duration',
    usage: 'How long a flow of UDP without an answer is tracked. 0: leave it as it is.',
  })
  @Check('duration', notNegative)
  readonly udpMs: number = 0;

  @Flag({
    name: 'conntrack-udp-timeout-stream',
    type: 'duration',
    usage: 'How long a flow of UDP with answers is tracked. 0: leave it as it is.',
  })
  @Check('duration', notNegative)
  readonly udpStreamMs: number = 0;
}
