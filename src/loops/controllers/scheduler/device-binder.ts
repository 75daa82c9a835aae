import type { Cluster } from '../../scheduler/cluster.js';
import { DeviceFault } from '../../scheduler/devices/device-fault.js';
import type { DevicePlan, PodDevices } from '../../scheduler/devices/pod-devices.js';
import { devicesOf } from '../../scheduler/filters/dynamic-resources.js';
import type { NodeInfo } from '../../scheduler/node-info.js';
import type { PodInfo } from '../../scheduler/pod-info.js';
import type { DeviceWriter } from './device-writer.js';
import type { InformedDevices } from './informed-devices.js';
import type { PodWriter } from './pod-writer.js';

/** Gives pods their devices before they are bound, and takes the devices back from pods that were not bound. */
export class DeviceBinder {
  constructor(
    private readonly devices: DeviceWriter,
    private readonly writer: PodWriter,
    private readonly known: InformedDevices,
    private readonly cluster: Cluster,
  ) {}

  /** The devices that a pod gets on a node; undefined: it needs none. */
  planFor(info: PodInfo, node: string): DevicePlan | undefined {
    return devicesOf(info, this.cluster)?.planFor(this.cluster.node(node) as NodeInfo);
  }

  /** Counts the devices of a plan as used from now on; the returned function frees those that were not written. */
  reserve(plan: DevicePlan): () => void {
    return this.devices.reserve(plan);
  }

  /** Prepares the devices of a pod and binds it; resolves with whether it is bound. Does not throw. */
  bind(info: PodInfo, plan: DevicePlan, node: string, signal: AbortSignal, bind: () => Promise<boolean>) {
    return this.writer.follow(this.tryBind(info, plan, node, signal, bind));
  }

  private async tryBind(
    info: PodInfo,
    plan: DevicePlan,
    node: string,
    signal: AbortSignal,
    bind: () => Promise<boolean>,
  ): Promise<boolean> {
    let isBound = false;
    try {
      await this.devices.prepare(info, plan, signal, () => this.writer.waitsForDevices(info.pod, node));
      isBound = await bind();
    } catch (error) {
      this.writer.devicesFailed(info.pod, error, signal);
    }
    try {
      // A binding whose outcome is not known may have been written.
      isBound ||= await this.writer.isPlaced(info.pod);
      if (!isBound) await this.devices.release(info, plan, signal);
    } catch (error) {
      this.writer.devicesFailed(info.pod, error, signal);
    }
    return isBound;
  }

  /** Frees the devices of a claim that keep a pod from all nodes; it is tried again when they are free. */
  free(info: PodInfo, signal: AbortSignal): void {
    const free = async () => {
      try {
        const stale = this.known.extendedClaimOf(info.uid);
        const [claim] = this.devicesIfAny(info)?.freeable(this.cluster.nodes) ?? [];
        if (claim !== undefined) await this.devices.free(claim, info.uid, signal);
        else if (stale !== undefined) await this.devices.remove(stale, signal);
      } catch (error) {
        this.writer.devicesFailed(info.pod, error, signal);
      }
    };
    void this.writer.follow(free());
  }

  private devicesIfAny(info: PodInfo): PodDevices | undefined {
    try {
      return devicesOf(info, this.cluster);
    } catch (error) {
      if (error instanceof DeviceFault) return undefined;
      throw error;
    }
  }
}
