import { formatQuantity } from '../../../base/machinery/values/quantity.js';
import type { NodeSelector, NodeSelectorRequirement } from '../../../objects/apis/core/v1/node-selector.types.js';
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
} from '../../../objects/apis/resource/v1/resource-claim.types.js';
import type { FoundDevice, FoundDevices } from './device-search.js';

/** The allocation in the status of a claim. */
export function allocationOf(found: FoundDevices, node: string): AllocationResult {
  const config = configurationOf(found);
  const nodeSelector = selectorOf(found.devices, node);
  return {
    devices: {
      ...(found.devices.length === 0 ? {} : { results: found.devices.map(resultOf) }),
      ...(config.length === 0 ? {} : { config }),
    },
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
  };
}

function resultOf({ candidate, wanted, share }: FoundDevice): DeviceRequestAllocationResult {
  const { bindingConditions, bindingFailureConditions } = candidate.device;
  const amounts = [...(share?.amounts ?? [])].map(([name, amount]) => [name, formatQuantity(amount)] as const);
  return {
    request: wanted.name,
    ...candidate.name,
    ...(wanted.isForAdmin ? { adminAccess: true } : {}),
    ...(wanted.tolerations.length === 0 ? {} : { tolerations: [...wanted.tolerations] }),
    ...(bindingConditions === undefined ? {} : { bindingConditions }),
    ...(bindingFailureConditions === undefined ? {} : { bindingFailureConditions }),
    ...(share === undefined ? {} : { shareID: share.id }),
    ...(amounts.length === 0 ? {} : { consumedCapacity: Object.fromEntries(amounts) }),
  };
}

/** The configuration of each class, once, for the requests that use the class, followed by that of the claim. */
function configurationOf({ claim, choices }: FoundDevices): DeviceAllocationConfiguration[] {
  const ofClasses = new Map<string, (DeviceAllocationConfiguration & { requests: string[] })[]>();
  for (const { deviceClass, name } of choices) {
    const className = deviceClass.metadata.name ?? '';
    const known = ofClasses.get(className);
    if (known === undefined) {
      const own = (deviceClass.spec.config ?? []).map((each) => {
        return { source: 'FromClass' as const, requests: [name], ...each };
      });
      ofClasses.set(className, own);
    } else for (const each of known) each.requests.push(name);
  }
  const ofClaim = (claim.claim.spec.devices.config ?? []).flatMap(({ requests = [], ...rest }) => {
    const isUsed = requests.length === 0 || choices.some(({ request, name }) => isAmong(requests, request, name));
    return isUsed ? [{ source: 'FromClaim' as const, requests: [...requests], ...rest }] : [];
  });
  return [...[...ofClasses.values()].flat(), ...ofClaim].map(({ requests, ...rest }) => {
    // A configuration for all requests need not name them.
    const isForAll = choices.every(({ request, name }) => isAmong(requests, request, name));
    return isForAll || requests.length === 0 ? rest : { ...rest, requests };
  });
}

function isAmong(requests: readonly string[], request: string, name: string): boolean {
  return requests.includes(request) || requests.includes(name);
}

/** Where pods can use all of the devices; undefined: everywhere. */
function selectorOf(devices: readonly FoundDevice[], node: string): NodeSelector | undefined {
  const fields: NodeSelectorRequirement[] = [];
  const expressions: NodeSelectorRequirement[] = [];
  for (const { candidate } of devices) {
    const { device, slice } = candidate;
    const place = slice.spec.perDeviceNodeSelection === true ? device : slice.spec;
    if (place.nodeName || device.bindsToNode === true) {
      const name = { key: 'metadata.name', operator: 'In' as const, values: [node] };
      return { nodeSelectorTerms: [{ matchFields: [name] }] };
    }
    const [term] = place.nodeSelector?.nodeSelectorTerms ?? [];
    addNew(fields, term?.matchFields ?? []);
    addNew(expressions, term?.matchExpressions ?? []);
  }
  if (fields.length + expressions.length === 0) return undefined;
  return {
    nodeSelectorTerms: [
      {
        ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
        ...(fields.length === 0 ? {} : { matchFields: fields }),
      },
    ],
  };
}

function addNew(all: NodeSelectorRequirement[], more: readonly NodeSelectorRequirement[]): void {
  const textOf = ({ key, operator, values = [] }: NodeSelectorRequirement) =>
    JSON.stringify([key, operator, [...new Set(values)].sort()]);
  const known = new Set(all.map(textOf));
  for (const requirement of more) {
    const text = textOf(requirement);
    if (known.has(text)) continue;
    known.add(text);
    all.push(requirement);
  }
}
