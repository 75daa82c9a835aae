import type { ApiObject } from '../../src/base/machinery/api-object.js';
import type { StoredPod } from '../../src/loops/controllers/frame/indexes.js';
import type { StoredSlice } from '../../src/loops/controllers/services/pack-slices.js';
import type { StoredService } from '../../src/loops/controllers/services/service-pods.js';
import type { EndpointAddress, Endpoints } from '../../src/objects/apis/core/v1/endpoints.types.js';
import { LoopScene } from './loop-scene.js';

type StoredEndpoints = Endpoints & ApiObject;

const slices = 'endpointslices.discovery';

/** Services with their pods, endpoints and slices, in the namespace `default` of a scene. */
export class ServiceScene {
  constructor(private readonly scene: LoopScene) {}

  createService(name: string, spec: object = {}, metadata: object = {}): Promise<StoredService> {
    return this.scene.create<StoredService>('services', {
      metadata: { name, namespace: 'default', ...metadata },
      spec: { selector: { app: name }, ports: [{ name: 'web', port: 80, targetPort: 8080 }], ...spec },
    });
  }

  async createPod(name: string, ip: string, { app = 'web', ready = true, spec = {} } = {}): Promise<StoredPod> {
    await this.scene.create<StoredPod>('pods', {
      metadata: { name, namespace: 'default', labels: { app } },
      spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
    });
    return this.setReady(name, ready, ip);
  }

  setReady(name: string, ready: boolean, ip?: string): Promise<StoredPod> {
    return this.scene.update<StoredPod>(
      'pods',
      'default',
      name,
      ({ status }) => {
        status.phase = 'Running';
        if (ip !== undefined) Object.assign(status, { podIP: ip, podIPs: ip.split(',').map((one) => ({ ip: one })) });
        const lastTransitionTime = `2031-02-03T04:05:0${ready ? 1 : 6}Z`;
        status.conditions = [
          { type: 'Ready', status: ready ? 'True' : 'False', lastProbeTime: null, lastTransitionTime },
        ];
      },
      'status',
    );
  }

  /** Describes each subset as `ready/others`. */
  static endpointsText(object: StoredEndpoints | undefined): string | undefined {
    return object && (object.subsets ?? []).map((s) => `${ips(s.addresses)}/${ips(s.notReadyAddresses)}`).join(' | ');
  }

  /** @param text `ready/others` of the only subset */
  untilEndpoints(name: string, text: string | undefined): Promise<StoredEndpoints | true> {
    const what = `endpoints of ${name}: ${text}`;
    return this.scene.until<StoredEndpoints, StoredEndpoints | true>('endpoints', what, (objects) => {
      const found = objects.find(({ metadata }) => metadata.name === name);
      return ServiceScene.endpointsText(found) === text && (found ?? true);
    });
  }

  /** @param text the addresses of each slice, with a mark behind those that are not ready */
  untilSlices(service: string, text: string, count = 1): Promise<StoredSlice[]> {
    return this.scene.until<StoredSlice, StoredSlice[]>(slices, `slices of ${service}: ${text}`, (objects) => {
      const found = objects.filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service);
      return found.length === count && slicesText(found) === text && found;
    });
  }
}

function ips(addresses: readonly EndpointAddress[] | undefined): string {
  return (addresses ?? []).map(({ ip }) => ip).join(' ');
}

function slicesText(objects: readonly StoredSlice[]): string {
  return objects
    .map(({ endpoints }) =>
      (endpoints ?? [])
        .map((e) => `${e.addresses}${e.conditions?.ready ? '' : '!'}`)
        .sort()
        .join(' '),
    )
    .sort()
    .join(' | ');
}
