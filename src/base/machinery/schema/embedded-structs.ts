interface Embedded {
  /** The embedded struct. */
  readonly name: string;
  /** The fields that belong to it. */
  readonly of?: readonly string[];
  /** Instead of `of`: the fields that do not belong to it. */
  readonly except?: readonly string[];
}

const reference: readonly Embedded[] = [{ name: 'LocalObjectReference', of: ['name'] }];
const device: readonly Embedded[] = [{ name: 'DeviceConfiguration', of: ['opaque'] }];
const ruleFields = ['apiGroups', 'apiVersions', 'resources', 'scope'];

/** Structs of release 1.37 that embed others: their fields stand side by side in JSON. By the last part of the name. */
const embedded: Readonly<Record<string, readonly Embedded[]>> = {
  ConfigMapEnvSource: reference,
  ConfigMapKeySelector: reference,
  ConfigMapProjection: reference,
  ConfigMapVolumeSource: reference,
  DeviceAllocationConfiguration: device,
  DeviceClaimConfiguration: device,
  DeviceClassConfiguration: device,
  EphemeralContainer: [{ name: 'EphemeralContainerCommon', except: ['targetContainerName'] }],
  IngressRule: [{ name: 'IngressRuleValue', of: ['http'] }],
  NamedRuleWithOperations: [
    { name: 'RuleWithOperations.Rule', of: ruleFields },
    { name: 'RuleWithOperations', of: ['operations'] },
  ],
  PersistentVolumeSpec: [
    {
      name: 'PersistentVolumeSource',
      except: [
        'accessModes',
        'capacity',
        'claimRef',
        'mountOptions',
        'nodeAffinity',
        'persistentVolumeReclaimPolicy',
        'storageClassName',
        'volumeAttributesClassName',
        'volumeMode',
      ],
    },
  ],
  Probe: [{ name: 'ProbeHandler', of: ['exec', 'grpc', 'httpGet', 'tcpSocket'] }],
  RuleWithOperations: [{ name: 'Rule', of: ruleFields }],
  SecretEnvSource: reference,
  SecretKeySelector: reference,
  SecretProjection: reference,
  Volume: [{ name: 'VolumeSource', except: ['name'] }],
};

/** The structs between a struct and one of its fields, which messages name in the path: `['VolumeSource']`. */
export function embeddedStructs(struct: string, field: string): readonly string[] {
  const found = embedded[struct.slice(struct.lastIndexOf('.') + 1)]?.find(({ of, except }) =>
    of === undefined ? !except?.includes(field) : of.includes(field),
  );
  return found === undefined ? [] : [found.name];
}
