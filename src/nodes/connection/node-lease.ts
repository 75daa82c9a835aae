import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { ApiUser } from './api-connection.js';
import { ApiError } from './api-error.js';

export interface LeaseRenewal {
  readonly api: ApiUser;
  readonly names: VendorNames;
  /** Name of the node. */
  readonly node: string;
  /** The node's uid, which makes the node the owner of the lease; empty if it isn't known. */
  readonly uid: string;
  readonly leaseMs: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Reports that a node is alive: renews its lease, or creates it. @throws the error of the request */
export async function renewNodeLease({ api, names, node, uid, leaseMs, now, signal }: LeaseRenewal): Promise<void> {
  const apiVersion = `${groupName('coordination', names)}/v1`;
  const leases = `/apis/${apiVersion}/namespaces/${names.nodeLeaseNamespace}/leases`;
  const renewTime = new Date(now).toISOString().replace('Z', '000Z');
  try {
    await api.send('PATCH', `${leases}/${node}`, {
      body: { spec: { holderIdentity: node, renewTime } },
      contentType: 'application/merge-patch+json',
      rank: 'urgent',
      signal,
    });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    const owner = { apiVersion: 'v1', kind: 'Node', name: node, uid };
    await api.send('POST', leases, {
      body: {
        apiVersion,
        kind: 'Lease',
        metadata: { name: node, ...(uid === '' ? {} : { ownerReferences: [owner] }) },
        spec: { holderIdentity: node, leaseDurationSeconds: Math.ceil(leaseMs / 1000), renewTime },
      },
      rank: 'urgent',
      signal,
    });
  }
}
