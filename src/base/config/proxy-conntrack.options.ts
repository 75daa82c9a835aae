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
    usage:
      'Connections that the kernel can track, for each processor; a higher limit of the kernel stays. 0: leave ' +
      'it as it is.',
  })
  @Min(0, { message: 'must be 0 or more' })
  readonly conntrackMaxPerCore: number = 32_768;

  @Flag({
    name: 'conntrack-min',
    type: 'int',
    unit: 'connections',
    usage: 'Minimum number of connections that the kernel can track, however few processors there are.',
  })
  @Min(0, { message: 'must be 0 or more' })
  readonly conntrackMin: number = 131_072;

  @Flag({
    name: 'conntrack-tcp-timeout-established',
    type: 'duration',
    usage: 'How long an idle TCP connection is tracked. 0: leave it as it is.',
  })
  @Check('duration', notNegative)
  readonly tcpEstablishedMs: number = 86_400_000;

  @Flag({
    name: 'conntrack-tcp-timeout-close-wait',
    type: 'duration',
    usage: 'How long a TCP connection is tracked after one side has closed it. 0: leave it as it is.',
  })
  @Check('duration', notNegative)
  readonly tcpCloseWaitMs: number = 3_600_000;

  @Flag({
    name: 'conntrack-tcp-be-liberal',
    type: 'bool',
    usage: 'Whether TCP packets outside of the window pass.',
  })
  readonly tcpBeLiberal: boolean = false;

  @Flag({
    name: 'conntrack-udp-timeout',
    type: 'duration',
    usage: 'How long a UDP flow without an answer is tracked. 0: leave it as it is.',
  })
  @Check('duration', notNegative)
  readonly udpMs: number = 0;

  @Flag({
    name: 'conntrack-udp-timeout-stream',
    type: 'duration',
    usage: 'How long a UDP flow with answers is tracked. 0: leave it as it is.',
  })
  @Check('duration', notNegative)
  readonly udpStreamMs: number = 0;
}
